"""Computes the hashes of oper8.json by the rules of oper8's dependency hash: python3 oper8.py > oper8.json"""
import hashlib
import json


def secret(name, data, **more):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data, **more}


def config(name, data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def workload(kind, spec):
    version = "v1" if kind == "Pod" else "apps/v1"
    head = {"apiVersion": version, "kind": kind, "metadata": {"name": "web"}}
    return {**head, "spec": spec} if kind == "Pod" else {**head, "spec": {"template": {"spec": spec}}}


def env(field, name):
    return {"name": "A", "valueFrom": {field: {"name": name, "key": "k"}}}


def digest(parts):
    """parts: objects in the order of the references, None for an absent one."""
    sha = hashlib.sha1()
    for obj in parts:
        obj = obj or {}
        sha.update(obj.get("kind", "").encode())
        sha.update(obj.get("metadata", {}).get("name", "").encode())
        sha.update(json.dumps(obj.get("data", {}), sort_keys=True).encode())
    return sha.hexdigest()


A, B = secret("a", {"z": "MQ==", "b": "Mg=="}), secret("b", {"k": "Mw=="})
C = config("c", {"k": "é \U0001f600 \"\\/<\n\t\x7f", "B": "", "a": "x"})
ODD = config("odd", {"int": 1, "big": 12345678901, "float": 1.5, "whole": 2.0, "small": 1e-7, "large": 1e22,
                     "yes": True, "none": None, "list": [1, "a"], "map": {"b": 1, "a": []}})
NODATA = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"k": "v"}}
NULL = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": None}
volumes = lambda *v: {"volumes": list(v)}
S, M = (lambda n: {"name": n, "secret": {"secretName": n}}), (lambda n: {"name": n, "configMap": {"name": n}})

CASES = [
    ("a volume of a Secret", workload("Deployment", volumes(S("a"))), [A], [A]),
    ("a Pod", workload("Pod", volumes(S("a"))), [A], [A]),
    ("a ReplicaSet", workload("ReplicaSet", volumes(M("c"))), [C], [C]),
    ("a StatefulSet, by its environment", workload("StatefulSet", {"containers": [{"env": [env("configMapKeyRef", "c")]}]}), [C], [C]),
    ("names are sorted, each once", workload("Deployment", volumes(S("b"), S("a"), S("b"))), [A, B], [A, B]),
    ("the kind that comes first is first", workload("Deployment", volumes(M("c"), S("a"))), [A, C], [C, A]),
    ("volumes come before the environment",
     workload("Deployment", {"containers": [{"env": [env("secretKeyRef", "b")]}], "volumes": [M("c"), S("a")]}), [A, B, C], [C, A, B]),
    ("an absent object", workload("Deployment", volumes(S("a"), S("b"))), [B], [None, B]),
    ("all objects are absent", workload("Deployment", volumes(S("a"))), [], [None]),
    ("an object without data", workload("Deployment", volumes(S("a"))), [NODATA], [NODATA]),
    ("data is null", workload("Deployment", volumes(S("a"))), [NULL], [NULL]),
    ("values that the cluster refuses", workload("Deployment", volumes(M("odd"))), [ODD], [ODD]),
    ("an empty valueFrom", workload("Deployment", {"containers": [{"env": [{"name": "A", "valueFrom": {}}]}], "volumes": [S("a")]}), [A], [A]),
    ("init containers don't count", workload("Deployment", {"initContainers": [{"env": [env("secretKeyRef", "b")]}], "volumes": [S("a")]}), [A, B], [A]),
    ("no references", workload("Deployment", {"containers": []}), [A], None),
    ("only what oper8 doesn't see", workload("Deployment", {"containers": [{"envFrom": [{"secretRef": {"name": "a"}}]}]}), [A], None),
    ("a DaemonSet", workload("DaemonSet", volumes(S("a"))), [A], None),
]
print(json.dumps([{"reason": r, "workload": w, "objects": o, "hash": "" if p is None else digest(p)} for r, w, o, p in CASES], indent=1))
