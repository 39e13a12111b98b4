"""Phrases about memory stores."""

PHRASES: dict[str, str] = {
    "an object {strategy, scope, place, settings}": "对象 {strategy, scope, place, settings}",
    "session, global or user": "session、global 或 user",
    # --- any store ---
    "mend the store, or what it needs; a run that is kept goes on from here": (
        "修好该存储或它所需的条件；保存在磁盘上的运行会从这里继续"
    ),
    "`{path}`: {reason}": "`{path}`：{reason}",
    "check the path and its permissions": "检查路径及其权限",
    # --- SQLite ---
    "end the program that holds it locked, or wait for it": "结束锁住它的程序，或等它结束",
    "put back a copy of the file, or name another one": "放回该文件的副本，或换一个文件",
    "make room on the disk": "在磁盘上腾出空间",
    "check the disk": "检查磁盘",
    "name another file: `memory.path`": "换一个文件：`memory.path`",
    "allow writing to it, or name another file: `memory.path`": (
        "允许写入它，或换一个文件：`memory.path`"
    ),
    "it was taken away while it was in use": "它在使用中被移走了",
    "it is a database of something else": "它是其他用途的数据库",
    "it is of layout {found}, and this version reads {known}": (
        "它的布局是 {found}，而此版本读取 {known}"
    ),
    # --- Redis ---
    "the package `redis` is not installed": "没有安装 `redis` 包",
    "pip install 'lambdagent[redis]'": "pip install 'lambdagent[redis]'",
    "this is no URL of a Redis server: `{url}`": "这不是 Redis 服务器的 URL：`{url}`",
    "set LAMBDAGENT_REDIS_URL to one such as `redis://localhost:6379`": (
        "将 LAMBDAGENT_REDIS_URL 设为 `redis://localhost:6379` 这样的 URL"
    ),
    "the server at `{url}`: {reason}": "服务器 `{url}`：{reason}",
    "start the server, or set LAMBDAGENT_REDIS_URL to where it is": (
        "启动服务器，或将 LAMBDAGENT_REDIS_URL 设为它的地址"
    ),
    "check the number of the database in LAMBDAGENT_REDIS_URL": (
        "检查 LAMBDAGENT_REDIS_URL 中的数据库编号"
    ),
    "allow the user in LAMBDAGENT_REDIS_URL to write": ("允许 LAMBDAGENT_REDIS_URL 中的用户写入"),
    "give the server more room: `maxmemory`": "给服务器更多空间：`maxmemory`",
    "set LAMBDAGENT_REDIS_URL to a server that can be written to": (
        "将 LAMBDAGENT_REDIS_URL 设为可写的服务器"
    ),
    "remove the keys there that begin with `lambdagent:`, or use another server": (
        "删除那里以 `lambdagent:` 开头的键，或换一台服务器"
    ),
    "see what the server at LAMBDAGENT_REDIS_URL lacks": (
        "查看 LAMBDAGENT_REDIS_URL 处的服务器缺少什么"
    ),
    "it wants a password": "它要求密码",
    "the entry `{key}` is none that was put here": "条目 `{key}` 不是在这里写入的",
    "remove it there, or leave it: nobody reads it": "到那里删除它，或者不管它：没有人会读它",
    "check the user and the password in LAMBDAGENT_REDIS_URL": (
        "检查 LAMBDAGENT_REDIS_URL 中的用户名和密码"
    ),
    # --- classes of others ---
    "write `customStore: package.module:Class`, and check that it is installed": (
        "写 `customStore: package.module:Class`，并检查它是否已安装"
    ),
    "`{path}` is no path of a class": "`{path}` 不是类的路径",
    "`{module}` cannot be imported: {error}": "`{module}` 无法导入：{error}",
    "`{module}` has no class `{name}`": "`{module}` 中没有类 `{name}`",
    "`{path}` cannot be made: {error}": "`{path}` 无法构造：{error}",
    "check what it needs, and `memory.settings`, which are its keywords": (
        "检查它需要什么，以及作为其关键字参数的 `memory.settings`"
    ),
    "`{path}` has no {names}": "`{path}` 没有 {names}",
    "write the methods of `lambdagent.MemoryStore`": "实现 `lambdagent.MemoryStore` 的方法",
    "`{path}` cannot keep users apart": "`{path}` 无法区分用户",
    "give its constructor a parameter `space`: whose memory it is": (
        "给它的构造函数加上参数 `space`：记忆属于谁"
    ),
    "mend `{path}`, or what it needs": "修好 `{path}` 或它所需的条件",
    "a server cannot keep entries for {wanted} s": "服务器无法把条目保存 {wanted} 秒",
    "set `ttl` to {most} at most, or to 0": "把 `ttl` 设为不超过 {most}，或设为 0",
}
