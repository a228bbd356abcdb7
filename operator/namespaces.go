package operator

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"k8s.io/apimachinery/pkg/labels"
)

// namespaces selects the namespaces that the operator watches.
type namespaces struct {
	// patterns are names and patterns as of cluster.Namespaces; none means all.
	patterns []string
	// selector is nil for any labels.
	selector labels.Selector
}

// newNamespaces reads the namespaces from settings, which were checked.
func newNamespaces(c config.Watch) namespaces {
	n := namespaces{patterns: slices.Clone(c.Namespaces)}
	n.simplify()
	if strings.TrimSpace(c.NamespaceSelector) != "" {
		n.selector, _ = labels.Parse(c.NamespaceSelector)
	}
	return n
}

// simplify removes patterns that make no difference: those before "*", and "*" if nothing after it is left out.
// Patterns need the right to watch namespaces, which an operator does better without.
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
	if named := n.named(); named != nil {
		slices.Sort(named)
		n.patterns = slices.Compact(named)
	}
}

// named returns the namespaces if all are given by name, otherwise none, since any namespace may fit.
func (n *namespaces) named() []string {
	for _, text := range n.patterns {
		if isPattern, _ := cluster.NamespacePattern(text); isPattern { // they have been checked
			return nil
		}
	}
	return n.patterns
}

// options returns the options for the cluster.
func (n *namespaces) options() []cluster.Option {
	options := []cluster.Option{cluster.Namespaces(n.patterns...)}
	if n.selector != nil {
		options = append(options, cluster.NamespaceSelector(n.selector))
	}
	return options
}
