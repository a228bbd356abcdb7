# The hook of Greetings: a ConfigMap with a greeting in each language, and a status that says how many there are.
import json
import sys

HELLO = {"de": "Hallo", "en": "Hello", "fr": "Bonjour", "la": "Salve"}


def sync(parent, children):
    """Returns what a Greeting wants. It depends on its arguments only."""
    name, languages = parent["spec"]["name"], parent["spec"].get("languages", ["en"])
    unknown = sorted(set(languages) - set(HELLO))
    wanted = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "%s-%s" % (parent["metadata"]["name"], language)},
            "data": {"text": "%s, %s!" % (HELLO[language], name)},
        }
        for language in languages
        if language in HELLO
    ]
    ready = {"type": "Ready", "status": "True", "reason": "Greets"}
    if unknown:
        ready = {"type": "Ready", "status": "False", "reason": "UnknownLanguage", "message": ", ".join(unknown)}
    elif len(children["ConfigMap.v1"]) < len(wanted):
        ready = {"type": "Ready", "status": "False", "reason": "Begins"}
    status = {"greetings": len(children["ConfigMap.v1"]), "conditions": [ready]}
    return {"children": wanted, "status": status}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(sync(request["parent"], request["children"])), flush=True)
