package usercases

// changed are changes that go through without a new object.
func changed() []userCase {
	from := func(name, reason, first, second string) userCase {
		return userCase{name: name, reason: reason, steps: []step{
			{apply: "strategy-switch/" + first, wants: wants(ready)},
			{apply: "strategy-switch/" + second, wants: wants(ready, kept,
				field("Deployment", "Recreate", "spec", "strategy", "type"),
				field("Deployment", absent, "spec", "strategy", "rollingUpdate"))},
		}}
	}
	parallelism := func(n int64) want { return field("Job", n, "spec", "parallelism") }
	null := from("strategy-switch/3-null", "the parameters are null", "1.json", "3-null.json")
	null.in = "explicit-null" // it has the name of another case
	return []userCase{
		from("strategy-switch/2", "the defaulted parameters of the old type go", "1.json", "2.json"),
		null,
		from("strategy-switch/4-Recreate", "it is no reason for a new object", "4-Recreate-a.json", "4-Recreate-b.json"),
		from("strategy-switch/4-Replace", "the parameters aren't kept", "4-Replace-a.json", "4-Replace-b.json"),
		{name: "replace-immutable/job", reason: "what the server has set is kept; the Job is suspended", steps: []step{
			{apply: "replace-immutable/job-1.json", wants: wants(unready, parallelism(1))},
			{apply: "replace-immutable/job-2.json", wants: wants(unready, kept, parallelism(2))},
		}},
	}
}
