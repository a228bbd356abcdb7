// Package ruletest compiles and evaluates the rules of package rule as the API server does, without one: with the API
// server's own libraries. It is for tests and build tools. Operators shouldn't link it, since it compiles about a
// hundred modules.
//
//	func TestRules(t *testing.T) {
//		rules := ruletest.FromFile(t, shopRules, "config/crd/shops.yaml")
//		rules.AcceptsCreate(t, small)
//		rules.RefusesUpdate(t, large, small, "spec.size: a shop can't shrink")
//	}
//
// [New] and [FromFile] compile the rules in the CustomResourceDefinition of a kind, [NewPolicy] those of a
// ValidatingAdmissionPolicy. All mistakes are reported, each with the number of the rule in its set and its field, such
// as an expression of the wrong type, or a rule that may cost too much. [CompileDefinition] and [CompilePolicy] do this
// without a test.
//
// # What is evaluated
//
// An object in a definition is handled as in a request: unknown fields are removed, defaults are set, the schema is
// validated, and then the rules. A broken rule about a value that an update doesn't change is only a warning, unless
// the rule has oldSelf. A policy does the same before its own rules if it gets the definition by the option [Schema];
// otherwise objects are evaluated as they are.
//
// What the API server adds to the metadata of a new object is filled in: the namespace default, a uid, the time of
// creation. managedFields are not. A policy's selector for namespaces isn't evaluated, and neither are webhooks or
// other policies.
//
// The libraries are those of one version of Kubernetes. The option [Kubernetes] reports what an older API server can't
// compile yet.
package ruletest
