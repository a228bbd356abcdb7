package cli

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestFailuresOfAnnotating(t *testing.T) {
	t.Parallel()
	ref := deploy.Ref{Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Namespace: "shop", Name: "sample"}
	for _, row := range []struct {
		reason string
		action deploy.Action
		needed bool
		want   string
	}{
		{"changed", deploy.Configured, true, ""},
		{"needs no change", deploy.Unchanged, false, ""},
		{"deleted after it was listed", deploy.Skipped, false, "Widget shop/sample: not found"},
		{"a webhook drops the annotation", deploy.Unchanged, true, "annotation example.com/pause: the API server reverted the change"},
	} {
		err := failure(deploy.Result{Ref: ref, Action: row.action}, "example.com/pause", row.needed)
		if row.want == "" {
			assert.NoError(t, err, row.reason)
		} else {
			assert.ErrorContains(t, err, row.want, row.reason)
		}
	}
}
