"""The words around diagnostics, and what commands say besides them, in Chinese."""

from __future__ import annotations

PHRASES: dict[str, str] = {
    "error": "错误",
    "warning": "警告",
    "note": "提示",
    "why": "原因",
    "fix": "修复",
    "interrupted": "已中断",
    "internal error: {name}: {error}": "内部错误：{name}: {error}",
    "please report this, with the output of --traceback": (
        "请报告这个问题，并附上 --traceback 的输出"
    ),
    "there is no command `{name}`": "没有命令 `{name}`",
    "there is no {got}: use one of {known}": "没有 {got}：使用其中之一：{known}",
    "expected {expected}, got {got}": "应为：{expected}，实际是：{got}",
    "a path": "路径",
    "a number of seconds above 0": "大于 0 的秒数",
    # --- places ---
    "standard input": "标准输入",
    "standard output": "标准输出",
    "it is a directory": "它是一个目录",
    "it has been changed meanwhile": "它在此期间被修改",
    "there is no such directory": "没有这个目录",
    "it is closed": "它已关闭",
    # --- runs on disk ---
    "is left of no run": "不属于任何运行的残留",
    "between calls": "在两次调用之间",
    "a fork of {run} at {place}": "{run} 在 {place} 处的分叉",
    "removed {name}": "已删除 {name}",
    "waits for {site}": "等待 {site}",
    "kept in {path}": "保存在 {path}",
    "stopped after {length} transitions": "在 {length} 次转移后停止",
    "to go on: {command}": "继续运行：{command}",
    "to try again from step N: {command} --at N": "从第 N 步重新尝试：{command} --at N",
    "to make that call again: {command} --at {key}": "再次执行该调用：{command} --at {key}",
    "0 to {last}": "0 到 {last}",
    "{first} to {last}": "{first} 到 {last}",
    "none so far": "目前没有",
    "the FILE of another program": "另一个程序的 FILE",
    "codes beside a file": "文件之外的规则编号",
    "a file to write": "可以写入的文件",
    "step {place}": "第 {place} 步",
    # --- questions ---
    "`{tool}` is about to be called, with: {shown}": "即将调用 `{tool}`，参数是：{shown}",
    "[y] make it   [n] do not, and say why   [s] stop here, and decide later": (
        "[y] 执行   [n] 不执行，并说明原因   [s] 先停在这里，以后再决定"
    ),
    "Why not, on one line:": "为什么不执行（写一行）：",
    "approved": "已批准",
    "denied": "已拒绝",
    "{word}: the call of `{tool}` at {key}, with: {shown}": (
        "{word}：`{tool}` 在 {key} 的调用，参数是：{shown}"
    ),
    " at `{text}`": "：`{text}`",
    "those that wait are at {listed}": "正在等待的调用在 {listed}",
    "the run can go on, or has ended": "运行可以继续，或者已经结束",
    "`{name}` at {key} was sent: {shown}": "`{name}` 在 {key} 发出了：{shown}",
    "Nobody knows whether it was carried out, and twice may do harm.": (
        "不知道它是否已经执行，重复执行可能造成损害。"
    ),
    "[r] make it again   [a] say what it answered   [s] stop here": (
        "[r] 再执行一次   [a] 说明它的回答   [s] 停在这里"
    ),
    "Its answer, on one line:": "它的回答（写一行）：",
}
