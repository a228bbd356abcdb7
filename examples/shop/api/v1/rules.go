package v1

import "github.com/operkit/operkit/reconcile/admission/rule"

// Rules are in the definition. The API server checks the rules of the version that a request uses, so each version
// needs its own.
var Rules = rule.Set{
	{Path: "spec.size", CEL: "self * 2 >= oldSelf", Message: "a shop shrinks by half at most", Class: rule.Forbidden},
}
