package operator

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"k8s.io/apimachinery/pkg/labels"
)

// namespaces are those that the operator works in.
type namespaces struct {
	// patterns are names and patterns as of cluster.Namespaces; none means all.
	patterns []string
	// selector is nil for any labels.
	selector labels.Selector
}

// newNamespaces are those that settings ask for, which were checked.
func newNamespaces(c config.Watch) namespaces {
	n := namespaces{patterns: slices.Clone(c.Namespaces)}
	n.simplify()
	if strings.TrimSpace(c.NamespaceSelector) != "" {
		n.selector, _ = labels.Parse(c.NamespaceSelector)
	}
	return n
}

// simplify leaves out what makes no difference, so that namespaces aren't followed without need, which takes a right:
// what stands before "*", and "*" with nothing after it that is kept out.
func (n *namespaces) simplify() {
	out := func(pattern string) bool { return strings.HasPrefix(pattern, "!") }
	for i, pattern := range slices.Backward(n.patterns) {
		if pattern == "*" {
			n.patterns = n.patterns[i:]
			if !slices.ContainsFunc(n.patterns, out) {
				n.patterns = nil
			}
			return
		}
	}
	if n.areNamed() {
		slices.Sort(n.patterns)
		n.patterns = slices.Compact(n.patterns)
	}
}

// areNamed tells whether the names of all are given.
func (n *namespaces) areNamed() bool {
	return len(n.patterns) > 0 && !slices.ContainsFunc(n.patterns, func(text string) bool {
		isPattern, _ := cluster.NamespacePattern(text) // they have been checked
		return isPattern
	})
}

// named are the namespaces if they are given by name, else none: all that there are may come to be among them.
func (n *namespaces) named() []string {
	if !n.areNamed() {
		return nil
	}
	return n.patterns
}

// options are those of the cluster.
func (n *namespaces) options() []cluster.Option {
	options := []cluster.Option{cluster.Namespaces(n.patterns...)}
	if n.selector != nil {
		options = append(options, cluster.NamespaceSelector(n.selector))
	}
	return options
}
