"""Whether servers can be reached, and why not, in Chinese."""

from __future__ import annotations

PHRASES: dict[str, str] = {
    "Endpoints:": "服务端点：",
    "Endpoints: none; nothing outside is asked": "服务端点：没有；不会询问外部服务",
    "Endpoints: none that are known": "服务端点：没有已知的",
    "It is not known whom they ask: {names}": "不知道它们会访问哪里：{names}",
    "the tools": "工具",
    "found": "已找到",
    "reachable ({took})": "可以连接（{took}）",
    "not reachable ({took}): {reason}": "无法连接（{took}）：{reason}",
    "the environment variable `{name}` is not set": "没有设置环境变量 `{name}`",
    "no answer within {limit} s": "{limit} 秒内没有应答",
    "no server of that name is known": "没有这个名称的服务器",
    "nothing listens there": "那里没有服务在监听",
    "it does not answer in time": "它没有及时应答",
    "that is no address": "这不是地址",
    "it does not speak TLS: {reason}": "它不使用 TLS：{reason}",
    "no reason": "没有说明原因",
    "{what}: {more}": "{what}：{more}",
    # --- certificates ---
    "its certificate is refused": "它的证书被拒绝",
    "its certificate is signed by nobody trusted here; `SSL_CERT_FILE` can name them": (
        "它的证书不是由这里信任的机构签发的；可以用 `SSL_CERT_FILE` 指定它们"
    ),
    "its certificate is for another host": "它的证书属于另一台主机",
    "its certificate is not valid yet, or the clock here is wrong": (
        "它的证书尚未生效，或者这里的时钟不准"
    ),
    "its certificate has expired": "它的证书已过期",
    "the certificates of `{name}` cannot be read: {reason}": "无法读取 `{name}` 的证书：{reason}",
    # --- proxies ---
    "the proxy `{name}`": "代理 `{name}`",
    "the proxy `{name}` answers {said}": "代理 `{name}` 的应答是：{said}",
    "something else than HTTP": "不是 HTTP",
}
