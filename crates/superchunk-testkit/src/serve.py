"""The pipe that peers are spoken to over: requests on stdin, replies on stdout (see frame_peer.rs)."""

import gc
import json
import sys


def serve(answer):
    """Answers requests until the other side closes the pipe."""
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    while line := incoming.readline():
        request = json.loads(line)
        payload = [incoming.read(length) for length in request["payload"]]
        parts = []
        try:
            value = answer(request, payload)
            if isinstance(value, list):
                value, parts = None, value
            head = {"ok": value}
        except Exception as error:  # any refusal is an answer
            head = {"error": f"{type(error).__name__}: {error}"}
        head["payload"] = [len(part) for part in parts]
        outgoing.write(json.dumps(head).encode() + b"\n")
        outgoing.writelines(parts)
        outgoing.flush()


def by_name(ops):
    """Answers each request with the function that is called as it says; garbage is collected after it."""

    def answer(request, payload):
        try:
            return functions[request["op"]](request, payload)
        finally:
            gc.collect()

    functions = {op.__name__: op for op in ops}
    return answer
