package usercases

// changed are changes that go through without a new object.
func changed() []userCase {
	from := func(name, reason, in, first, second string) userCase {
		return userCase{name: name, reason: reason, in: in, steps: []step{
			{apply: first, wants: wants(ready)},
			{apply: second, wants: wants(ready, kept,
				field("Deployment", "Recreate", "spec", "strategy", "type"), field("Deployment", absent, "spec", "strategy", "rollingUpdate"))},
		}}
	}
	parallelism := func(n int64) want { return field("Job", n, "spec", "parallelism") }
	return []userCase{
		from("strategy-switch/2", "the defaulted parameters of the old type go", "", "strategy-switch/1.json", "strategy-switch/2.json"),
		from("strategy-switch/3-null", "the parameters are null", "explicit-null", "strategy-switch/1.json", "strategy-switch/3-null.json"),
		from("strategy-switch/4-Recreate", "it is no reason for a new object", "", "strategy-switch/4-Recreate-a.json", "strategy-switch/4-Recreate-b.json"),
		from("strategy-switch/4-Replace", "the parameters aren't kept", "", "strategy-switch/4-Replace-a.json", "strategy-switch/4-Replace-b.json"),
		{name: "replace-immutable/job", reason: "Replace keeps what the server has set in fields that can't change; the Job is suspended", steps: []step{
			{apply: "replace-immutable/job-1.json", wants: wants(unready, parallelism(1))},
			{apply: "replace-immutable/job-2.json", wants: wants(unready, kept, parallelism(2))},
		}},
	}
}
