package event

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Objects may have names that no event may have, such as those of roles.
func TestEventsOfObjectsOfAnyName(t *testing.T) {
	t.Parallel()
	cluster, err := dryrun.New(dryrun.Namespaces("*"))
	require.NoError(t, err)
	r := NewRecorder(cluster.Port(), "shop-operator", "shop-operator-0", slog.New(slog.DiscardHandler))
	role := schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}
	r.Record(Event{Regarding: Object{Ref: deploy.Ref{Kind: role, Name: "system:node"}}, Reason: "Opened"})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r.Run(ctx)
	assert.Zero(t, r.Dropped())
	written := cluster.Objects()
	require.Len(t, written, 1)
	about, _, err := unstructured.NestedString(written[0].Object, "regarding", "name")
	require.NoError(t, err)
	assert.Equal(t, "system:node", about)
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0x1234)
	for _, row := range []struct{ reason, regarding, want string }{
		{"what is a name for events stays", "tea", "tea.1234"},
		{"so do dots", "tea.town", "tea.town.1234"},
		{"a long one is cut", strings.Repeat("a", 300), strings.Repeat("a", longestName) + ".1234"},
		{"not behind a dot", strings.Repeat("a", longestName-1) + ".b", strings.Repeat("a", longestName-1) + ".1234"},
		{"a role", "system:node", "95fe5e7357e7594e.1234"},
		{"capitals", "Tea", "6cede919e20c6ea9.1234"},
	} {
		assert.Equal(t, row.want, nameOf(row.regarding, at), row.reason)
	}
	assert.NotEqual(t, nameOf("system:node", at), nameOf("system:nodes", at), "others are others at the same time, too")
}

// Whatever an object is called, its event can be written, and each try writes the same one.
func FuzzNameOf(f *testing.F) {
	f.Add("tea", int64(1))
	f.Add("system:node", int64(1<<60))
	f.Add(strings.Repeat("a.-", 100), int64(0))
	f.Fuzz(func(t *testing.T, regarding string, nanoseconds int64) {
		at := time.Unix(0, max(nanoseconds, 0))
		name := nameOf(regarding, at)
		assert.Empty(t, validation.IsDNS1123Subdomain(name), "%q of %q", name, regarding)
		assert.Equal(t, name, nameOf(regarding, at))
	})
}
