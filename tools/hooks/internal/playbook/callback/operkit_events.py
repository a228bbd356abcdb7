"""Writes the events of a run as lines of JSON to the file that a variable of the environment names."""

from __future__ import annotations

import json
import os

from ansible.playbook.block import Block
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: operkit_events
    type: notification
    short_description: writes events as lines of JSON
    description: Writes how each task has ended, and the counts of all tasks at the end.
    requirements: [the variable OPERKIT_ANSIBLE_EVENTS of the environment]
"""

LONGEST_NAME = 200
LONGEST_MESSAGE = 3000
LONGEST_STATUS = 32 << 10
LONGEST_CRASH = 500
MOST_ITEMS = 5
REQUEUE = ("requeue_after", "operator_sdk.util.requeue_after")
HIDDEN = "the message is hidden, because the task has no_log"
UNKNOWN = "the task has failed without a message"


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "operkit_events"
    CALLBACK_NEEDS_ENABLED = False

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Tasks don't get the variable: the file is none of their business.
        self._file = open(os.environ.pop("OPERKIT_ANSIBLE_EVENTS"), "a", encoding="ascii")

    def _write(self, **event):
        self._file.write(json.dumps({key: value for key, value in event.items() if value}, default=str) + "\n")
        self._file.flush()

    def _task(self, result, status, **more):
        task, returned = result._task, result._result
        hidden = is_hidden(result)
        failed = status in ("failed", "unreachable")
        message = ""
        if failed:
            message = HIDDEN if hidden else message_of(returned)
        period = ""
        if task.action in REQUEUE and not hidden:
            period = str(returned.get("period", ""))
        name = written_name(task) if hidden else (result._task_fields or {}).get("name") or task.get_name()
        self._write(
            event="task",
            name=str(name)[:LONGEST_NAME],
            action=str(task.action)[:LONGEST_NAME],
            status=status,
            message=message[:LONGEST_MESSAGE],
            period=period[:LONGEST_NAME],
            **more,
        )

    def v2_runner_on_ok(self, result):
        self._task(result, "changed" if result._result.get("changed") else "ok")

    def v2_runner_on_skipped(self, result):
        self._task(result, "skipped")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._task(result, "failed", ignored=bool(ignore_errors), rescued=not ignore_errors and is_rescued(result._task))

    def v2_runner_on_unreachable(self, result):
        self._task(result, "unreachable", ignored=bool((result._task_fields or {}).get("ignore_unreachable")))

    def v2_playbook_on_stats(self, stats):
        hosts = [stats.summarize(host) for host in stats.processed]

        def total(name):
            return sum(host.get(name, 0) for host in hosts)

        self._write(
            event="stats",
            ok=total("ok"),
            changed=total("changed"),
            failures=total("failures"),
            skipped=total("skipped"),
            unreachable=total("unreachable"),
            rescuedTasks=total("rescued"),
            ignoredTasks=total("ignored"),
            **status_of(stats),
        )


def status_of(stats):
    """Returns the status that tasks have set by set_stats, with data: {status: {...}}."""
    status = (stats.custom or {}).get("_run", {}).get("status")
    if status is None or len(json.dumps(status, default=str)) <= LONGEST_STATUS:
        return {"statusData": status}
    return {"isStatusLarge": True}


def is_hidden(result):
    """Reports whether a task has no_log, also if that isn't evaluated yet."""
    fields = result._task_fields or {}
    return "censored" in result._result or bool(fields.get("no_log", result._task.no_log))


def written_name(task):
    """Returns the name of a task as the playbook has it: variables in the name of a task with no_log may be secrets."""
    return (getattr(task, "_ds", None) or {}).get("name") or task.action


def message_of(returned):
    """Returns why a task has failed."""
    message = text_of(returned)
    items = [item for item in returned.get("results") or [] if isinstance(item, dict) and item.get("failed")]
    if items:
        message = "\n".join([message] + [text_of(item) for item in items[:MOST_ITEMS]])
    return message


def text_of(returned):
    """Returns the message of a task or an item. A module that has crashed has said why at the end of its output."""
    message = first_of(returned)
    crash = returned.get("module_stderr")
    if isinstance(crash, str) and crash not in message:
        message = message.strip() + "\n" + crash.strip()[-LONGEST_CRASH:]
    return message


def first_of(returned):
    for key in ("msg", "reason", "module_stderr", "stderr", "exception"):
        value = returned.get(key)
        if value not in (None, ""):
            return value if isinstance(value, str) else json.dumps(value, default=str)
    return UNKNOWN


def is_rescued(task):
    """Reports whether a task is in a block that rescues its failure, and not in the rescue itself."""
    inner = set()
    while task is not None:
        # A static import isn't in the list of its block: what it has imported is.
        if isinstance(task, Block) and task.rescue and any(other._uuid in inner for other in task.block):
            return True
        inner.add(task._uuid)
        task = task._parent
    return False
