package protocol

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/operkit/operkit/tools/hooks/internal/definition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kjson "sigs.k8s.io/json"
)

// maxRules is how many rules a hook may return, and maxNames how many names each rule may have.
const (
	maxRules = 100
	maxNames = 1000
)

// Rule selects related objects of one kind.
type Rule struct {
	definition.Resource
	// Namespace is where the objects are. Namespaces selects their namespaces; nil if the rule doesn't.
	Namespace  string
	Namespaces labels.Selector
	// Names are the names of the objects, and Labels selects them. At most one of them is set; without both all objects
	// are selected.
	Names  []string
	Labels labels.Selector
}

// DecodeCustomize decodes the response of a customize hook. The error names the field. With strict, unknown fields are
// errors.
func DecodeCustomize(body []byte, strict bool) (rules []Rule, err error) {
	d, err := decode(body, strict)
	if err != nil {
		return nil, err
	}
	const name = "relatedResources"
	list, ok := d.fields[name].([]any)
	if !ok && d.fields[name] != nil {
		d.fail(name, "must be a list of rules")
	}
	if len(list) > maxRules {
		d.fail(name, "has %d rules, at most %d are allowed", len(list), maxRules)
		list = nil
	}
	for i, value := range list {
		rule, err := ruleOf(value, strict)
		if err != nil {
			d.fail(fmt.Sprintf("%s[%d]", name, i), "%v", err)
		}
		rules = append(rules, rule)
	}
	return rules, d.done([]string{name})
}

func ruleOf(value any, strict bool) (rule Rule, err error) {
	var read struct {
		definition.Resource `json:",inline"`
		Labels              *metav1.LabelSelector `json:"labelSelector"`
		Namespaces          *metav1.LabelSelector `json:"namespaceSelector"`
		Namespace           string                `json:"namespace"`
		Names               []string              `json:"names"`
	}
	text, err := json.Marshal(value)
	if err != nil {
		return rule, err
	}
	unknown, err := kjson.UnmarshalStrict(text, &read)
	switch {
	case err != nil:
		return rule, err
	case strict && len(unknown) > 0:
		return rule, unknown[0]
	}
	if err := read.Check(); err != nil {
		return rule, err
	}
	rule = Rule{Resource: read.Resource, Namespace: read.Namespace, Names: read.Names}
	switch {
	case !isName(read.Namespace) || slices.ContainsFunc(read.Names, func(name string) bool { return !isName(name) }):
		return rule, fmt.Errorf("namespace and names: must be of one line and at most %d bytes", maxName)
	case len(read.Names) > maxNames:
		return rule, fmt.Errorf("names: has %d names, at most %d are allowed: use labelSelector", len(read.Names), maxNames)
	case len(read.Names) > 0 && (read.Labels != nil || read.Namespaces != nil):
		return rule, fmt.Errorf("names can't be combined with labelSelector and namespaceSelector: use two rules")
	case read.Namespace != "" && read.Namespaces != nil:
		return rule, fmt.Errorf("namespace can't be combined with namespaceSelector: use two rules")
	}
	if rule.Labels, err = selectorOf(read.Labels); err != nil {
		return rule, fmt.Errorf("labelSelector: %w", err)
	}
	if rule.Namespaces, err = selectorOf(read.Namespaces); err != nil {
		return rule, fmt.Errorf("namespaceSelector: %w", err)
	}
	return rule, nil
}

func selectorOf(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // nothing is selected by labels
	}
	return metav1.LabelSelectorAsSelector(s)
}
