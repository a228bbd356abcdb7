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
	// patterns are names and patterns as for cluster.Namespaces. An empty list selects all namespaces.
	patterns []string
	// selector selects namespaces by their labels. Nil selects all.
	selector labels.Selector
}

// newNamespaces reads the namespaces from settings, which must be valid.
func newNamespaces(c config.Watch) namespaces {
	n := namespaces{patterns: slices.Clone(c.Namespaces)}
	n.simplify()
	if strings.TrimSpace(c.NamespaceSelector) != "" {
		n.selector, _ = labels.Parse(c.NamespaceSelector)
	}
	return n
}

// simplify removes patterns without effect: all patterns before "*", and the whole list if no pattern after "*"
// excludes namespaces. An operator without patterns doesn't need the right to watch namespaces.
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

// named returns the namespaces if all are given by name. If one of them is a pattern, named returns nil.
func (n *namespaces) named() []string {
	for _, text := range n.patterns {
		if isPattern, _ := cluster.NamespacePattern(text); isPattern { // the patterns are valid
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
