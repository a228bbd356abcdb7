package operator

import (
	"testing"

	"github.com/operkit/operkit/operator/config"
	"github.com/stretchr/testify/assert"
)

func TestNamespaces(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason             string
		given, want, named []string
	}{
		{"watch 5: none means all", nil, nil, nil},
		{"watch 5: so does a star", []string{"*"}, nil, nil},
		{"watch 5: a star among names", []string{"shop", "*", "store"}, nil, nil},
		{"watch mistake 24: names count once", []string{"store", "shop", "store"}, []string{"shop", "store"}, []string{"shop", "store"}},
		{"watch 5: names are no patterns, so that no right to namespaces is needed", []string{"shop"}, []string{"shop"}, []string{"shop"}},
		{"demand 19: a pattern", []string{"shop", "team-*"}, []string{"shop", "team-*"}, nil},
		{"demand 19: the order of patterns stays", []string{"team-*", "!team-x", "shop"}, []string{"team-*", "!team-x", "shop"}, nil},
		{"demand 19: all but some", []string{"*", "!kube-*"}, []string{"*", "!kube-*"}, nil},
		{"demand 19: some are left out, all others are in", []string{"!kube-*"}, []string{"!kube-*"}, nil},
		{"demand 19: what stands before a star makes no difference", []string{"!kube-*", "*", "!team-[a-c]"}, []string{"*", "!team-[a-c]"}, nil},
		{"demand 19: nor what it lets in again", []string{"!kube-*", "*"}, nil, nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			n := newNamespaces(config.Watch{Namespaces: row.given})
			assert.Equal(t, row.want, n.patterns)
			assert.Equal(t, row.named, n.named())
			assert.Nil(t, n.selector)
			assert.Len(t, n.options(), 1)
		})
	}
}

func TestNamespaceSelector(t *testing.T) {
	t.Parallel()
	n := newNamespaces(config.Watch{Namespaces: []string{"shop"}, NamespaceSelector: "tier in (prod, test),!frozen"})
	assert.Equal(t, "!frozen,tier in (prod,test)", n.selector.String())
	assert.Equal(t, []string{"shop"}, n.named(), "demand 19: labels only take away")
	assert.Len(t, n.options(), 2)
	empty := newNamespaces(config.Watch{NamespaceSelector: " "})
	assert.Nil(t, empty.selector, "no labels are no condition")
}
