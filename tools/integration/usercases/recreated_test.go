package usercases

// recreated are changes of what can't be changed, with the strategy Recreate: the object is made anew.
func recreated() []userCase {
	from := func(name, reason string, more ...want) userCase {
		return userCase{name: name, reason: reason, steps: []step{
			{apply: name + "-1.json", wants: wants(ready)},
			{apply: name + "-2.json", wants: append(wants(ready, anew), more...)},
		}}
	}
	class := func(name string) want { return field("Service", name, "spec", "loadBalancerClass") }
	return []userCase{
		from("recreate-immutable/r-im", "a value of an immutable ConfigMap changes", field("ConfigMap", "b", "data", "a")),
		from("recreate-immutable/r-im3", "an immutable ConfigMap loses a key: what isn't rendered any more is a change",
			field("ConfigMap", absent, "data", "b")),
		from("recreate-immutable/r-sec", "the type of a Secret changes", field("Secret", "example.com/b", "type")),
		from("recreate-immutable/r-typ", "the type of a Secret isn't rendered any more: the default is another one",
			field("Secret", "Opaque", "type")),
		from("recreate-immutable/r-sel", "a selector changes",
			field("Deployment", "r-sel2", "spec", "selector", "matchLabels", "app")),
		from("recreate-immutable/r-job", "completions change: the server's refusal decides, not a table",
			field("Job", int64(2), "spec", "completions")),
		{name: "recreate-immutable/r-lb", reason: "the class changes; nobody gives the load balancer an address here", steps: []step{
			{apply: "recreate-immutable/r-lb-1.json", wants: wants(unready, class("example.com/a"))},
			{apply: "recreate-immutable/r-lb-2.json", wants: wants(unready, anew, class("example.com/b"))},
		}},
		{name: "sts-vct/r", reason: "a volumeClaimTemplate grows: the StatefulSet is made anew, its claims are kept", steps: []step{
			{apply: "sts-vct/r1.json", wants: wants(ready)},
			{apply: "sts-vct/r2.json", wants: wants(ready, anew, field("StatefulSet", int64(2), "spec", "replicas"))},
		}},
	}
}
