package explore

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// needy fails without the settings.
func needy(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	color, err := m.color(ctx, resource, true)
	if err == nil && color == "" {
		err = errors.New("no settings")
	}
	if err != nil {
		return err
	}
	return m.paint(ctx, resource, color)
}

func TestDependencies(t *testing.T) {
	others := Harness(reconciletest.Memory(dryrun.Objects(settings, street)))
	t.Run("explore 55: without an object of others the operator may fail", func(t *testing.T) {
		r := explored(t, manually(needy), startDriven, others, States(300))
		assert.Empty(t, r.findings, stories(r))
	})
	t.Run("explore 55: objects of others are deleted, and each entry is changed", func(t *testing.T) {
		assert.Equal(t, []string{
			"Shop.explore.operkit.dev tea before ConfigMap test/settings",
			`Shop.explore.operkit.dev tea and ConfigMap test/settings with data.color: "redx"`,
			"Shop.explore.operkit.dev tea before ConfigMap test/street",
		}, dependentLives(t, others))
	})
	t.Run("explore 55: what is ignored, and namespaces, are left alone", func(t *testing.T) {
		town := &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: Namespace, metadata: {name: town}}")}
		also := Harness(reconciletest.Memory(dryrun.Objects(town)))
		assert.Len(t, dependentLives(t, others, also, Ignore("ConfigMap street")), 2)
		assert.Empty(t, dependentLives(t, also))
	})
}

// dependentLives returns the names of the lives with objects of others.
func dependentLives(t *testing.T, opts ...Option) (names []string) {
	t.Helper()
	_, lives := explorerFor(t, needy, opts...)
	for _, l := range lives {
		for _, c := range l.chapters {
			if c.foreign {
				names = append(names, l.name)
				break
			}
		}
	}
	return names
}
