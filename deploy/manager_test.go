package deploy

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestHashKey(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for manager, want := range map[string]string{
		"operkit":                "operkit.dev/applied-operkit",
		"Guestbook_2.operator":   "operkit.dev/applied-Guestbook_2.operator",
		strings.Repeat("a", 55):  "operkit.dev/applied-" + strings.Repeat("a", 55),
		strings.Repeat("a", 56):  "",
		strings.Repeat("a", 57):  "",
		strings.Repeat("x", 128): "",
		"a b":                    "",
		"a-b":                    "operkit.dev/applied-a-b",
		"a/b":                    "",
		"guestbook:v2":           "",
		"ends-with-":             "",
		"ends-with.":             "",
		"ends-with_":             "",
		"-":                      "",
		"größe":                  "",
		"世界":                     "",
		strings.Repeat("世", 100): "",
		"Mozilla/5.0 (X11)":      "",
	} {
		key := settings{domain: Domain, fieldManager: manager}.hashKey()
		assert.Empty(t, validation.IsQualifiedName(key), "%q makes %s", manager, key)
		if want != "" {
			assert.Equal(t, want, key)
		}
		other, taken := seen[key]
		assert.False(t, taken, "%q and %q share %s", manager, other, key)
		seen[key] = manager
		assert.Equal(t, key, settings{domain: Domain, fieldManager: manager}.hashKey())
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	m := must(NewManager(noCluster{}, FieldManager("guestbook"), KeyDomain("oper8.org")))
	assert.Equal(t, "guestbook", m.FieldManager())
	assert.Equal(t, "oper8.org", m.KeyDomain())
	other := must(m.With(FieldManager("other")))
	assert.Equal(t, "other", other.FieldManager())
	assert.Equal(t, "oper8.org", other.KeyDomain(), "With keeps what it isn't told")
	assert.Equal(t, "guestbook", m.FieldManager(), "With changes nothing")
	assert.Equal(t, "operkit", must(NewManager(noCluster{})).FieldManager())
	assert.Equal(t, Domain, must(NewManager(noCluster{})).KeyDomain())
	assert.Nil(t, m.View())
	assert.Nil(t, m.Port())
	must(NewManager(noCluster{}, nil))
	must(must(m.With(nil)).With(FieldManager(""), FieldManager("the last one")))
	_, err := NewManager(nil)
	require.ErrorContains(t, err, "nil cluster")

	for name, test := range map[string]struct {
		option Option
		says   string
	}{
		"no manager":            {FieldManager(""), "field manager: its name is empty"},
		"no domain":             {KeyDomain(""), `key domain ""`},
		"a domain that is none": {KeyDomain("not a domain"), `key domain "not a domain": makes the annotation not a domain/applied-guestbook, which is not valid`},
		"an owner without uid":  {OwnedBy(&unstructured.Unstructured{}), "has no uid"},
		"no owner":              {OwnedBy(nil), "nil owner"},
		"no strategy":           {DefaultStrategy("Patch"), `strategy "Patch": unknown: use one of Apply, `},
		"less than nothing":     {Concurrency(-1), "concurrency -1: it is negative"},
		"no time to retry":      {RetryFor(-1), "retry for -1ns: it is negative"},
		"no time to wait":       {RecreateWait(-1), "recreate wait -1ns: it is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := map[string]func(Option) error{
				"NewManager": func(o Option) error { _, err := NewManager(noCluster{}, FieldManager("guestbook"), o); return err },
				"With":       func(o Option) error { _, err := m.With(o); return err },
				"Apply":      func(o Option) error { _, err := m.Apply(t.Context(), nil, o); return err },
				"Delete":     func(o Option) error { _, err := m.Delete(t.Context(), nil, o); return err },
				"Gone":       func(o Option) error { _, err := m.Gone(t.Context(), nil, o); return err },
				"Locate":     func(o Option) error { _, err := m.Locate(t.Context(), nil, o); return err },
			}
			for call, run := range calls {
				if name == "an owner without uid" && (call == "NewManager" || call == "With") {
					require.NoError(t, run(test.option), "it may be described without a cluster")
					continue
				}
				require.ErrorContains(t, run(test.option), test.says, call)
			}
		})
	}
}

// noCluster is for a Manager that sends nothing.
type noCluster struct{}

func (noCluster) Port() Port { return nil }
func (noCluster) View() View { return nil }

func TestResults(t *testing.T) {
	t.Parallel()
	for action, changed := range map[Action]bool{
		Created: true, Configured: true, Removed: true,
		Unchanged: false, Skipped: false, Conflicted: false, Failed: false,
	} {
		assert.Equal(t, changed, Result{Action: action}.Changed(), action)
		assert.Equal(t, changed, Results{{Action: Unchanged}, {Action: action}}.Changed(), action)
	}
	results := Results{{}, {Err: context.Canceled}, {Err: &NotFoundError{}}}
	require.ErrorIs(t, results.Err(), context.Canceled)
	var absent *NotFoundError
	require.ErrorAs(t, results.Err(), &absent)
	require.NoError(t, Results{{}, {}}.Err())
	require.NoError(t, Results(nil).Err())
}

// must returns a value that can't fail to be made.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
