package deploy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Right is what a process needs to be allowed to do with the objects of a kind.
type Right struct {
	// Kind is the kind of the objects. Subresource is a subresource of them, such as status; empty for the objects.
	Kind        schema.GroupVersionKind
	Subresource string
	// Namespace is where the objects are. Empty means everywhere where the View watches the kind.
	Namespace string
	// Names are the names of the objects. Empty means all objects. RBAC can't restrict list, watch and create by name.
	Names []string
	// Verbs are what is done, such as get and patch.
	Verbs []string
}

// RightsView is a View of a cluster that knows what this process may do.
type RightsView interface {
	View
	// MissingRights returns rules that grant those of the given rights that this process doesn't have. It sends a
	// request for each verb, unless it has asked within the last minute. Kinds that aren't served are left out. With an
	// error, nothing is known.
	MissingRights(ctx context.Context, rights []Right) (Rules, error)
}

// Rules are rules for the roles of a process, by the namespace of the Role; "" is a ClusterRole. Each rule is about one
// group, and has the resources of that group for which the verbs are the same. A rule for objects with some names is
// about one resource. The zero value has no rules.
type Rules map[string][]rbacv1.PolicyRule

// verbOrder is the order of verbs in a rule.
var verbOrder = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// objects are what a rule is about: the objects of a resource, or the one with a name.
type objects struct {
	schema.GroupResource
	name string
}

// Merged returns the same permissions as sorted rules, one for each group and set of verbs.
func (r Rules) Merged() Rules {
	merged := Rules{}
	for namespace, rules := range r {
		verbs := map[objects]map[string]bool{}
		for _, rule := range rules {
			addVerbs(verbs, rule)
		}
		if len(verbs) > 0 {
			merged[namespace] = rulesOf(verbs)
		}
	}
	return merged
}

// addVerbs adds the verbs of a rule to those of each of its resources, or of the objects that it names.
func addVerbs(verbs map[objects]map[string]bool, rule rbacv1.PolicyRule) {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, name := range names {
				at := objects{schema.GroupResource{Group: group, Resource: resource}, name}
				if verbs[at] == nil {
					verbs[at] = map[string]bool{}
				}
				for _, verb := range rule.Verbs {
					verbs[at][verb] = true
				}
			}
		}
	}
}

// sortedVerbs returns the verbs for some objects. For named objects, these are without the verbs for all objects of the
// resource.
func sortedVerbs(verbs map[objects]map[string]bool, of objects) (sorted []string) {
	for verb := range verbs[of] {
		if of.name == "" || !verbs[objects{GroupResource: of.GroupResource}][verb] {
			sorted = append(sorted, verb)
		}
	}
	slices.SortFunc(sorted, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(verbOrder, a), slices.Index(verbOrder, b)), cmp.Compare(a, b))
	})
	return sorted
}

// rulesOf returns sorted rules: one for each group and set of verbs, and for named objects one for each resource, too.
func rulesOf(verbs map[objects]map[string]bool) (rules []rbacv1.PolicyRule) {
	all := slices.SortedFunc(maps.Keys(verbs), func(a, b objects) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.name, b.name))
	})
	for _, one := range all {
		sorted := sortedVerbs(verbs, one)
		if len(sorted) == 0 {
			continue
		}
		same := slices.IndexFunc(rules, func(rule rbacv1.PolicyRule) bool {
			isNamed := len(rule.ResourceNames) > 0
			return rule.APIGroups[0] == one.Group && slices.Equal(rule.Verbs, sorted) && isNamed == (one.name != "") &&
				(!isNamed || rule.Resources[0] == one.Resource)
		})
		switch {
		case same < 0:
			rule := rbacv1.PolicyRule{APIGroups: []string{one.Group}, Resources: []string{one.Resource}, Verbs: sorted}
			if one.name != "" {
				rule.ResourceNames = []string{one.name}
			}
			rules = append(rules, rule)
		case one.name != "":
			rules[same].ResourceNames = append(rules[same].ResourceNames, one.name)
		default:
			rules[same].Resources = append(rules[same].Resources, one.Resource)
		}
	}
	return rules
}

// String returns the rules as YAML on one line, to be pasted into the roles that it names: the ClusterRole, and the
// Role of each namespace.
func (r Rules) String() string {
	var parts []string
	for _, namespace := range slices.Sorted(maps.Keys(r)) {
		role := "ClusterRole"
		if namespace != "" {
			role = "Role in the namespace " + namespace
		}
		var rules []string
		for _, rule := range r[namespace] {
			names := ""
			if len(rule.ResourceNames) > 0 {
				names = ", resourceNames: " + flow(rule.ResourceNames)
			}
			rules = append(rules, fmt.Sprintf("{apiGroups: %s, resources: %s%s, verbs: %s}", flow(rule.APIGroups), flow(rule.Resources), names, flow(rule.Verbs)))
		}
		parts = append(parts, role+": rules: ["+strings.Join(rules, ", ")+"]")
	}
	return strings.Join(parts, "; ")
}

// flow returns names as a list in YAML.
func flow(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		if quoted[i] = name; name == "" || strings.ContainsAny(name, "*") {
			quoted[i] = "'" + name + "'"
		}
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// MissingRightsError reports that requests were refused because this process lacks rights, and which rules grant all
// rights that it lacks, also for requests that it hasn't sent yet.
type MissingRightsError struct {
	// Rules grant the rights that are missing.
	Rules Rules
	// Err is the error of the refused requests.
	Err error
}

// Error has the rules first, to be pasted into roles, and then what was refused.
func (e *MissingRightsError) Error() string {
	return fmt.Sprintf("rights are missing: add to the %s: %v", e.Rules, e.Err)
}

// Unwrap returns Err.
func (e *MissingRightsError) Unwrap() error { return e.Err }

// WithMissingRights returns a *MissingRightsError around err if err is, or joins, a *ForbiddenError because of a
// missing right, and view is a RightsView that finds rights which are missing among those that wanted returns.
// Otherwise it returns err. It calls wanted, and sends requests, only in the first case. Errors of these requests are
// ignored.
func WithMissingRights(ctx context.Context, view View, err error, wanted func() []Right) error {
	reviewer, ok := view.(RightsView)
	refused := refusals(err)
	if !ok || len(refused) == 0 {
		return err
	}
	rules, failed := reviewer.MissingRights(ctx, wanted())
	if failed != nil {
		return err
	}
	rules = rules.with(refused)
	if len(rules) == 0 {
		return err
	}
	return &MissingRightsError{Rules: rules, Err: err}
}

// with adds the rights for refused requests, unless the rules have them.
func (r Rules) with(refused []*ForbiddenError) Rules {
	all := maps.Clone(r)
	if all == nil {
		all = Rules{}
	}
	for _, e := range refused {
		if !escalates(e.Err) && !all.grant(e, "") && !all.grant(e, e.Namespace) {
			all[e.Namespace] = append(slices.Clip(all[e.Namespace]), rbacv1.PolicyRule{
				APIGroups: []string{e.Resource.Group}, Resources: []string{e.Resource.Resource}, Verbs: e.verbs(),
			})
		}
	}
	return all.Merged()
}

// grant reports whether the rules for a namespace allow a refused request.
func (r Rules) grant(refused *ForbiddenError, namespace string) bool {
	return slices.ContainsFunc(r[namespace], func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.APIGroups, refused.Resource.Group) && slices.Contains(rule.Resources, refused.Resource.Resource) &&
			(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, refused.Name)) &&
			!slices.ContainsFunc(refused.verbs(), func(verb string) bool { return !slices.Contains(rule.Verbs, verb) })
	})
}

// verbs returns the verbs of the refused request, which are several for "list and watch".
func (e *ForbiddenError) verbs() []string { return strings.Split(e.Verb, " and ") }

// refusals returns the errors in err that are about a missing right.
func refusals(err error) (found []*ForbiddenError) {
	switch e := err.(type) {
	case *MissingRightsError:
	case *ForbiddenError:
		if e.MissingRight() {
			found = append(found, e)
		}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			found = append(found, refusals(one)...)
		}
	case interface{ Unwrap() error }:
		return refusals(e.Unwrap())
	}
	return found
}
