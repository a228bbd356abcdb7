// Package rule has rules about objects that need no server: the API server itself checks them, in CEL.
//
//	var rules = rule.Set{
//		{Path: "spec", CEL: "self.min <= self.max", Message: "min is at most max"},
//		{Path: "spec.size", CEL: "self >= oldSelf", Message: "a shop can't shrink"},
//	}
//
// One set of rules becomes validations in the CustomResourceDefinition of a kind ([Set.AddTo]), or a
// ValidatingAdmissionPolicy with its binding ([Set.Policy]), which works for the kinds of others, too. The text of a
// rule is the same in both: self is the value of the field that Path names, and oldSelf its value before an update. A
// rule with oldSelf is for updates of a field that was there before, and is there afterwards.
//
// # Which of the two
//
// Use the definition for your own kinds: its rules hold as long as the kind exists, their mistakes name the field, and
// kubectl explain and editors see them. Use a policy for the kinds of others, for rules that only some clusters or
// namespaces need, and for rules that warn only.
//
// # Where they differ
//
// In a definition values have the types of the schema; in a policy they are as in JSON. So write a rule for both like
// this: timestamp(self.at) for a string of the format date-time, duration(self.every) for a string of the format duration,
// and double(self.ratio) for a number that may have a fraction. Names of fields that CEL can't write, such as those with a
// hyphen, need an escape in a definition and none in a policy: write such a rule for one of the two only.
//
// A field that is null is absent in a definition: has(self.note) is false. In a policy has(self.note) is true, and
// dyn(self.note) == null compiles in both. A rule about the field itself isn't checked for null in either.
//
// An update that doesn't change a value may leave a rule about it broken in a definition, which then only warns, unless
// the rule has oldSelf. A policy refuses the update.
//
// A definition also checks updates of the subresource status, a policy only those of the object itself.
//
// A rule that can't be evaluated for an object, for example because it divides by zero, refuses the object in a
// definition. In a policy the failure policy decides, and the text is that of the API server, not that of the rule.
//
// A definition is refused if a rule may cost too much, so lists, maps and texts need limits. A policy has no such
// estimate. At run time a rule that costs too much ends the checks of a definition; a policy continues with the next
// rule.
//
// # Compiling
//
// Rules aren't compiled here, since that takes the API server's own libraries. The API server compiles a rule when its
// definition or policy is applied, and refuses what it can't compile, or what may cost too much. The module
// reconcile/admission/rule/ruletest does the same without a server, in tests and builds.
package rule
