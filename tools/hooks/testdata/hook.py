# Hooks in nothing but Python. That of a CompositeController wants as many ConfigMaps as the parent asks for, and that of
# a DecoratorController a ConfigMap with a note about the object, until the object is gone or isn't selected any more.
import http.server
import json


def cats(request):
    spec = request["parent"]["spec"]
    cats = request["children"]["ConfigMap.v1"]
    children = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "cat-%d" % i, "labels": spec["selector"]["matchLabels"]},
            "data": {"color": spec["color"]},
        }
        for i in range(0 if request["finalizing"] else spec["size"])
    ]
    return {"children": children, "status": {"cats": len(cats)}, "finalized": not cats}


def note(request):
    if request["finalizing"]:
        return {"labels": {"noted": None}, "finalized": not request["attachments"]["ConfigMap.v1"]}
    metadata = request["object"]["metadata"]
    attachment = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "note-" + metadata["name"]},
        "data": {"note": metadata["annotations"]["note"]},
    }
    return {"labels": {"noted": "true"}, "attachments": [attachment]}


class Hook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(cats(request) if "parent" in request else note(request)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        print(self.path, (request.get("parent") or request["object"])["metadata"]["name"], flush=True)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
