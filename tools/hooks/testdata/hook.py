# A hook of a CompositeController, with nothing but Python: as many ConfigMaps as the parent asks for.
import http.server
import json


class Hook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
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
        response = {"children": children, "status": {"cats": len(cats)}, "finalized": not cats}
        body = json.dumps(response).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        print(self.path, request["parent"]["metadata"]["name"], flush=True)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
