package operator

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
)

// namespaces are those that the operator works in, as flags say.
type namespaces struct {
	// patterns are names and patterns as of cluster.Namespaces; none means all.
	patterns []string
	// labelled is what the flag says, selector what that means, nil for any labels.
	labelled string
	selector labels.Selector
}

func (n *namespaces) flags(command *cobra.Command) {
	set := command.Flags()
	set.StringSliceVarP(&n.patterns, "namespace", "n", nil, "namespaces to watch: names, patterns such as 'team-*', and with a '!' in front what is left out; the last that fits decides (default: all)")
	set.StringVar(&n.labelled, "namespace-selector", "", "watch only namespaces with these labels, such as tier=prod")
}

// namespaceFlags are the names of the flags above.
var namespaceFlags = []string{"namespace", "namespace-selector"}

// check trims what was given and refuses what means nothing (spec: watch 5, mistake 24).
func (n *namespaces) check() error {
	for i, pattern := range n.patterns {
		n.patterns[i] = strings.TrimSpace(pattern)
		if _, err := cluster.NamespacePattern(n.patterns[i]); err != nil {
			return usage("--%w", err)
		}
	}
	n.simplify()
	if strings.TrimSpace(n.labelled) == "" {
		return nil
	}
	selector, err := labels.Parse(n.labelled)
	if err != nil {
		return usage("--namespace-selector %q: %w", n.labelled, err)
	}
	n.selector = selector
	return nil
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
