package explore

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const password = "hunter2-hunter2"

// talkative has a Secret, and talks about it.
func talkative(talk func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		secret, err := m.get(ctx, "Secret", "key", resource)
		if err == nil && secret == nil {
			err = m.create(ctx, resource, "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {password: %q, user: postgres}}", password)
		}
		if err != nil {
			return err
		}
		return talk(ctx, m, resource)
	}
}

func TestSecrets(t *testing.T) {
	for where, row := range map[string]struct {
		talk reconciling
		says string
	}{
		"the status": {func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
			return m.status(ctx, resource, "url", "postgres:"+password+"@db")
		}, "Shop.explore.operkit.dev test/tea status"},
		"an annotation, in base64": {func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
			if len(resource.GetAnnotations()) > 0 {
				return nil
			}
			return m.patch(ctx, resource, "", fmt.Sprintf(`{"metadata":{"annotations":{"key":%q}}}`, base64.StdEncoding.EncodeToString([]byte(password))))
		}, "Shop.explore.operkit.dev test/tea metadata.annotations"},
		"the log": {func(_ context.Context, m *manual, _ *unstructured.Unstructured) error {
			m.env.Logger.Info("connected", "password", password)
			return nil
		}, "the log"},
		"an event": {func(_ context.Context, m *manual, resource *unstructured.Unstructured) error {
			m.env.Events.Record(event.Event{Regarding: event.Of(resource), Reason: "Made", Note: "with " + password})
			return nil
		}, "an event"},
	} {
		t.Run("explore 30: a password shows in "+where, func(t *testing.T) {
			r := explored(t, manually(talkative(row.talk)), startDriven, Findings(1), Ignore("Event Made"))
			require.Len(t, r.findings, 1, stories(r))
			assert.Contains(t, r.findings[0].story(), "Secret test/key data.password: it shows in "+row.says)
			assert.NotContains(t, r.findings[0].story(), password)
		})
	}
	t.Run("explore 30: the name of the resource isn't secret", func(t *testing.T) {
		o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples")})
		require.NoError(t, err)
		w := &witness{explorer: explorerOf(t, manually(careful), o, startDriven), trial: newTrial(t.Context()), secrets: secrets{}}
		shop := parsed(t, "{apiVersion: explore.operkit.dev/v1, kind: Shop, metadata: {name: tea-x7k2m9}, status: {url: tea-x7k2m9.example.com, key: b8f3k2m9q4}}")
		secret := parsed(t, "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {prefix: tea-x7k2m9, value: b8f3k2m9q4}}")
		faults := w.leaks([]*unstructured.Unstructured{secret, shop})
		require.Len(t, faults, 1)
		assert.Equal(t, []string{"Secret key data.value: it shows in Shop.explore.operkit.dev tea-x7k2m9 status"}, faults[0].details)
	})
	t.Run("explore 30: words and names aren't secret", func(t *testing.T) {
		r := explored(t, manually(talkative(func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
			return m.status(ctx, resource, "user", "postgres")
		})), startDriven, States(40))
		assert.NotContains(t, stories(r), "it shows in")
	})
}

func TestDifferenceOfSecrets(t *testing.T) {
	t.Run("explore 30: a difference of Secrets has no value", func(t *testing.T) {
		d := difference{"Secret test/key", deploy.Change{Path: ".data.password", Before: password, After: "other"}}
		assert.Equal(t, "Secret test/key .data.password: another value", d.String())
	})
}
