package kinds

import (
	"slices"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind returns a kind with all verbs, the preferred version of its group.
func kind(group, version, name, plural string, more ...string) deploy.ServedKind {
	return deploy.ServedKind{
		Kind: schema.GroupVersionKind{Group: group, Version: version, Kind: name}, Preferred: true, Resource: plural,
		Names: more, Verbs: []string{"get", "list", "watch", "patch"},
	}
}

func of(change func(*deploy.ServedKind), kind deploy.ServedKind) deploy.ServedKind {
	change(&kind)
	return kind
}

func older(k *deploy.ServedKind)    { k.Preferred = false }
func inAll(k *deploy.ServedKind)    { k.Categories = []string{"all"} }
func readOnly(k *deploy.ServedKind) { k.Verbs = []string{"get", "list"} }

// all are the kinds of a cluster, the versions of a kind in the order of preference.
var all = []deploy.ServedKind{
	of(inAll, kind("", "v1", "Pod", "pods", "pod", "po")),
	kind("", "v1", "Event", "events", "event", "ev"),
	kind("events.k8s.io", "v1", "Event", "events", "event", "ev"),
	of(inAll, kind("apps", "v1", "Deployment", "deployments", "deployment", "deploy")),
	kind("a.example.dev", "v1", "Shop", "shops", "shop"),
	of(older, kind("a.example.dev", "v1beta1", "Shop", "shops", "shop")),
	of(older, kind("a.example.dev", "v1alpha1", "Shop", "shops", "shop")),
	kind("b.example.dev", "v2", "Shop", "shops", "shop"),
	kind("b.example.dev", "v2", "Pod", "pods", "pod"),
	of(readOnly, kind("metrics.k8s.io", "v1", "Usage", "usages", "usage")),
}

func names(found map[schema.GroupKind]deploy.ServedKind) (all []string) {
	for _, kind := range found {
		all = append(all, kind.Kind.GroupVersion().String()+" "+kind.Kind.Kind)
	}
	slices.Sort(all)
	return all
}

func TestSelector(t *testing.T) {
	t.Parallel()
	pod, shops := []string{"v1 Pod"}, []string{"a.example.dev/v1 Shop", "b.example.dev/v2 Shop"}
	for _, row := range []struct {
		reason    string
		selector  Selector
		want      []string
		ambiguous []string
	}{
		{"kinds 10: everything, in the preferred versions, without Events", Selector{}, []string{
			"a.example.dev/v1 Shop", "apps/v1 Deployment", "b.example.dev/v2 Pod", "b.example.dev/v2 Shop", "metrics.k8s.io/v1 Usage", "v1 Pod",
		}, nil},
		{"kinds 10: a group", Selector{Group: "apps"}, []string{"apps/v1 Deployment"}, nil},
		{"kinds 10: the core group, which has no name", Selector{Group: Core}, pod, nil},
		{"kinds 10: groups by a pattern", Selector{Group: "*.example.dev", Name: "Sho[p]"}, shops, nil},
		{"kinds 10: a kind", Selector{Name: "Deployment"}, []string{"apps/v1 Deployment"}, nil},
		{"kinds 10: a plural", Selector{Name: "deployments"}, []string{"apps/v1 Deployment"}, nil},
		{"kinds 10: a singular", Selector{Name: "deployment"}, []string{"apps/v1 Deployment"}, nil},
		{"kinds 10: a short name", Selector{Name: "deploy"}, []string{"apps/v1 Deployment"}, nil},
		{"kinds 10: the case counts", Selector{Name: "DEPLOYMENT"}, nil, nil},
		{"kinds 10: names by a pattern", Selector{Name: "d*"}, []string{"apps/v1 Deployment"}, nil},
		{"kinds 10: a category", Selector{Category: "all"}, []string{"apps/v1 Deployment", "v1 Pod"}, nil},
		{"kinds 10: categories by a pattern", Selector{Category: "al?"}, []string{"apps/v1 Deployment", "v1 Pod"}, nil},
		{"kinds 10: a function", Selector{Where: func(k deploy.ServedKind) bool { return k.Kind.Version == "v2" }}, []string{"b.example.dev/v2 Pod", "b.example.dev/v2 Shop"}, nil},
		{"kinds 10: a function sees what the other fields let pass", Selector{Group: "apps", Where: func(k deploy.ServedKind) bool {
			return assert.Equal(t, "apps", k.Kind.Group)
		}}, []string{"apps/v1 Deployment"}, nil},
		{"kinds 11: a version that isn't preferred", Selector{Group: "a.example.dev", Version: "v1beta1"}, []string{"a.example.dev/v1beta1 Shop"}, nil},
		{"kinds 11: versions by a pattern: the most preferred one", Selector{Group: "a.example.dev", Version: "v1?*"}, []string{"a.example.dev/v1beta1 Shop"}, nil},
		{"kinds 12: Events by their name", Selector{Group: Core, Name: "events"}, []string{"v1 Event"}, nil},
		{"kinds 12: but not by a pattern", Selector{Group: Core, Name: "e*"}, nil, nil},
		{"kinds 12: nor by their group", Selector{Group: "events.k8s.io"}, nil, nil},
		{"kinds 13: a name that means several kinds", Selector{Name: "Shop"}, nil, []string{"Shop.a.example.dev", "Shop.b.example.dev"}},
		{"kinds 13: the core group comes first", Selector{Name: "pods"}, pod, nil},
		{"kinds 13: a pattern may mean several", Selector{Name: "shop*"}, shops, nil},
		{"nothing of the kind", Selector{Group: "nobody.example.dev"}, nil, nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.NoError(t, row.selector.Check())
			found := row.selector.of(all)
			assert.Equal(t, row.want, names(found.kinds))
			assert.Equal(t, row.ambiguous, found.ambiguous)
			assert.Len(t, row.selector.Select(all), len(row.want))
		})
	}
	for field, selector := range map[string]Selector{
		"group": {Group: "[a"}, "version": {Version: "[a"}, "name": {Name: "[a"}, "category": {Category: "[a"},
	} {
		assert.EqualError(t, selector.Check(), `selector: `+field+` "[a": not a pattern of path.Match: syntax error in pattern`)
	}
}
