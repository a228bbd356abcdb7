package v2

import "github.com/operkit/operkit/reconcile/admission/rule"

// Rules are in the definition: they hold as long as the kind exists.
var Rules = rule.Set{
	{Path: "spec.replicas", CEL: "self * 2 >= oldSelf", Message: "a shop shrinks by half at most", Class: rule.Forbidden},
}

// Taste are the rules of a policy: a cluster that wants other ones removes its binding. They hold for requests in all
// versions, because the API server converts objects to the version of the policy.
var Taste = rule.Set{
	{Path: "spec.appearance.colour", CEL: "self != 'plaid'", Message: "no plaid shops"},
}

// TastePolicy is that policy.
var TastePolicy = rule.Policy{Name: "taste.shops.examples.operkit.dev", Kind: ShopKind, Resource: "shops"}
