// Package celready judges the readiness of objects by expressions in CEL, the language in which Kubernetes
// validates custom resources.
//
//	rule, err := celready.Compile(celready.Expressions{
//		Ready:   "object.status.state in ['Ready', 'Allocated']",
//		Failed:  "object.status.state in ['Error', 'Unhealthy']",
//		Message: "'the server is ' + object.status.state",
//	})
//	...
//	c.Add("server", server, reconcile.ReadyWhen(rule.Judge))
//
// Use it for third-party kinds that report their readiness neither by the condition Ready nor by the fields of kstatus,
// if the rule comes from a configuration. If the rule is part of the program, write a function in Go: the compiler
// checks the function, and it is about twenty times as fast as an expression, which takes microseconds. For a single
// condition or field use readiness.Expectation, which needs no expression.
//
// # Expressions
//
// The only variable is object, the object as it is in the cluster. Besides the standard functions and macros of CEL
// there are optional values (object.?status.?phase.orValue("")), cel.bind, loops with two variables (m.all(k, v, ...)),
// and cel-go's libraries of strings and of lists. Integers can be compared with other numbers. Kubernetes' own
// libraries (quantity, url, ip, semver) aren't available: they are part of its API server.
//
// If a field, a key or an element that Ready reads is missing, the object isn't ready, and the message names the
// missing field. If Failed reads a missing field, the object hasn't failed. So has() isn't needed, but can be used.
// This applies to negations too: !(object.status.phase == 'Failed') isn't true if phase is missing.
//
// # What is checked first
//
// Package readiness checks every object before the expressions are evaluated. An object isn't ready if it is being
// deleted, if status.observedGeneration isn't yet metadata.generation, or if it is Stalled or Reconciling. The
// expression itself must compare any other observed generation, such as the observedGeneration of a condition, or an
// observed generation that is a string:
//
//	object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True' &&
//	    c.?observedGeneration.orValue(0) == object.metadata.generation)
//	object.status.observedGeneration == string(object.metadata.generation)
//
// # Limits
//
// Each evaluation of an expression has a limit to its cost, in the unit of Kubernetes' own limits; see CostLimit. There
// are fixed limits for the values that an expression makes, for the work of a single call, and for the length and the
// depth of an expression. Regular expressions have to be literals and are compiled with the expression. If an
// expression exceeds a limit while an object is judged, the expression is wrong: the object is Unknown, and Judge fails
// its component.
//
// Messages and errors contain values of an object only if Message reads them. If a value is missing or can't be
// evaluated, the messages quote that part of the expression instead.
package celready
