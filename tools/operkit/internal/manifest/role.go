package manifest

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Rule is a rule of a role: what may be done with one kind of resource.
type Rule struct {
	Group, Resource string
	Verbs           []string
	// Why is the comment above the verbs. If it is empty, there is no comment.
	Why string
}

// ControllerRules returns the rules that an operator needs for a kind that it controls.
func ControllerRules(group, plural string) []Rule {
	return []Rule{
		{group, plural, []string{"get", "list", "watch", "patch"}, "patch: the finalizer"},
		{group, plural + "/status", []string{"patch"}, ""},
		{group, plural + "/finalizers", []string{"update"}, "owner references that block the owner's deletion"},
	}
}

// ObjectRule returns the rule that an operator needs for a kind of object that it renders.
func ObjectRule(group, plural string) Rule {
	return Rule{
		group, plural, []string{"get", "list", "watch", "create", "patch", "delete"},
		"server-side apply is a patch that may create; get is for times when a watch is broken",
	}
}

// YAML returns the rule as an item of a list.
func (r Rule) YAML(indent string) string {
	group := r.Group
	if group == "" {
		group = `""`
	}
	text := fmt.Sprintf("%s- apiGroups: [%s]\n%s  resources: [%s]\n", indent, group, indent, r.Resource)
	if r.Why != "" {
		text += indent + "  # " + r.Why + "\n"
	}
	return text + fmt.Sprintf("%s  verbs: [%s]\n", indent, strings.Join(r.Verbs, ", "))
}

// beginning matches the beginning of a role's rules, and captures the indent of the first rule.
var beginning = regexp.MustCompile(`(?m)^rules:[ \t]*\n((?:[ \t]*#.*\n)*)([ \t]*)- `)

// AddRules adds rules to a role, before the existing rules. It skips resources for which the role has a rule already.
// changed is false if no rule was added.
func AddRules(role []byte, rules ...Rule) (text []byte, changed bool, err error) {
	before, err := rulesOf(role)
	if err != nil {
		return nil, false, ErrNoPlace
	}
	missing := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool {
		return slices.ContainsFunc(before, func(has rule) bool { return has.isFor(r) })
	})
	if len(missing) == 0 {
		return role, false, nil
	}
	place := beginning.FindSubmatchIndex(role)
	if place == nil {
		return nil, false, ErrNoPlace
	}
	var more strings.Builder
	for _, one := range missing {
		more.WriteString(one.YAML(string(role[place[4]:place[5]])))
	}
	text = inserted(role, place[2], more.String())
	after, err := rulesOf(text)
	if err != nil || len(after) != len(before)+len(missing) || !reflect.DeepEqual(after[len(missing):], before) {
		return nil, false, ErrNoPlace
	}
	return text, true, nil
}

// rule is a rule of a parsed role.
type rule struct {
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	Verbs         []string `json:"verbs"`
	ResourceNames []string `json:"resourceNames"`
}

// isFor reports whether a rule is about the same resources. The verbs don't count: people may edit them.
func (has rule) isFor(r Rule) bool {
	any := func(values []string, one string) bool {
		return slices.Contains(values, one) || slices.Contains(values, "*")
	}
	return any(has.APIGroups, r.Group) && any(has.Resources, r.Resource) && len(has.ResourceNames) == 0
}

func rulesOf(role []byte) ([]rule, error) {
	var document struct {
		Rules []rule `json:"rules"`
	}
	err := yaml.Unmarshal(role, &document)
	return document.Rules, err
}
