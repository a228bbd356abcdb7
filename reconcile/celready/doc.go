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
// Use it for kinds of others that say neither by the condition Ready nor by the fields of kstatus whether they are
// ready, and where the rule comes from a configuration rather than from a program. Else write a function in Go: it is
// checked by the compiler and some twenty times as fast (an expression takes microseconds). A single condition or field
// is what readiness.Expectation judges without any language.
//
// # Expressions
//
// The one variable is object, as the cluster has it. Besides the standard functions and macros of CEL there are
// optional values (object.?status.?phase.orValue("")), cel.bind, loops with two variables (m.all(k, v, ...)), and
// cel-go's libraries of strings and of lists. Whole numbers and others compare with each other. Kubernetes' own
// libraries (quantity, url, ip, semver) are part of its API server and aren't there.
//
// If a field, a key or an element that an expression reads is missing, the object isn't ready, and the message names
// the missing field; the object hasn't failed. So has() isn't needed, but can be used. This also applies to
// !(object.status.phase == 'Failed') if phase is missing.
//
// # What is looked at before
//
// An object that is being deleted, whose metadata.generation isn't yet status.observedGeneration, or that is Stalled or
// Reconciling isn't ready whatever the expressions say: package readiness looks at that first. An observedGeneration
// elsewhere is the expression's to compare, such as that of a condition, or one that is a text:
//
//	object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True' &&
//	    c.?observedGeneration.orValue(0) == object.metadata.generation)
//	object.status.observedGeneration == string(object.metadata.generation)
//
// # Limits
//
// Each evaluation of an expression has a limit to its cost, in the unit of Kubernetes' own limits; see CostLimit. There
// are fixed ones for the values that an expression makes and for what a single call does, and for the length and the
// depth of an expression. Regular expressions have to be literals and are compiled with the expression. Whatever
// exceeds a limit while an object is judged is an error of the expression: the object is Unknown, and Judge fails its
// component.
//
// Messages and errors hold values of an object only where Message asks for them; missing ones and those that can't be
// evaluated are named by the expression.
package celready
