package explore

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// asking asks for its retries by a time, as watchers do, and not by an error.
func asking(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	m.again = 5 * time.Second
	_ = careful(ctx, m, resource)
	return nil
}

func TestRetries(t *testing.T) {
	t.Run("harness 26: a reconcile of which a request failed isn't the last one, though it returned no error", func(t *testing.T) {
		r := explored(t, manually(asking), startDriven, Replay("Shop.explore.operkit.dev tea | refuse@1.3,fail@1.5"))
		assert.Empty(t, r.findings, stories(r))
	})
}
