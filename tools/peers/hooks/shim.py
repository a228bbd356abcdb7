# Runs a hook that is a Python program and listens on port 80, on another port: shim.py PORT PROGRAM.
import http.server
import os
import runpy
import sys

port, program = int(sys.argv[1]), sys.argv[2]


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, address, handler):
        super().__init__(("127.0.0.1", port), handler)


http.server.HTTPServer = Server
os.chdir(os.path.dirname(program))
sys.argv = [program]
runpy.run_path(program, run_name="__main__")
