package reconcile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestTruncate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, name, want string }{
		{"reconcile 6: nothing to shorten", "hello-redis", "hello-redis"},
		{"reconcile 6: 63 characters fit", strings.Repeat("a", 63), strings.Repeat("a", 63)},
		{"reconcile 6, mistake 22: 64 don't, and get 8 digits", strings.Repeat("a", 64), strings.Repeat("a", 54) + "-ffe054fe"},
		{"mistake 22: a dash at the cut goes", strings.Repeat("a", 53) + "-" + strings.Repeat("b", 20), strings.Repeat("a", 53) + "-af3ec493"},
		{"mistake 22: dots and dashes at the cut go, all of them", strings.Repeat("a", 50) + ".-.-" + strings.Repeat("b", 20), strings.Repeat("a", 50) + "-f1bc7c6b"},
		{"a letter of several bytes is never cut in half", strings.Repeat("ä", 40), "437be29e"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, Truncate(row.name))
		})
	}
}

func TestTruncatedNamesDiffer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 80)
	assert.NotEqual(t, Truncate(long+"b"), Truncate(long+"c"), "reconcile 6: the hash is of the whole name")
	assert.Equal(t, Truncate(long), Truncate(long), "reconcile 6: it is deterministic")
}

func FuzzTruncate(f *testing.F) {
	for _, name := range []string{"", "a", strings.Repeat("a", 64), strings.Repeat("-", 70), strings.Repeat("ä", 40), "a" + strings.Repeat("-", 80) + "z"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		short := Truncate(name)
		if len(short) > 63 {
			t.Fatalf("%q: %d characters", short, len(short))
		}
		if Truncate(short) != short {
			t.Fatalf("%q is shortened again", short)
		}
		if len(name) <= 63 && short != name {
			t.Fatalf("%q became %q", name, short)
		}
		if len(validation.IsDNS1123Subdomain(name)) == 0 && len(validation.IsValidLabelValue(short)) > 0 {
			t.Fatalf("%q, of the valid name %q, is no label value: %v", short, name, validation.IsValidLabelValue(short))
		}
	})
}
