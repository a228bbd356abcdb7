package name_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checks are those of all sorts of names.
var checks = map[string]func(string) error{
	"name": name.Operator, "kind": name.Kind, "group": name.Group, "version": name.Version, "module": name.Module, "component": name.Component,
}

func TestRightNames(t *testing.T) {
	t.Parallel()
	for sort, names := range map[string][]string{
		"name":      {"a", "guestbook-operator", "x2", strings.Repeat("a", 63)},
		"kind":      {"A", "Guestbook", "HTTPRoute", "V2Ray", "Sheep", "Switch", strings.Repeat("A", 50)},
		"group":     {"example.com", "a.b", "3d.example.com", "my-group.example.com", "k8s.io.example.com"},
		"version":   {"v1", "v2beta1", "v10alpha12"},
		"module":    {"example.com/guestbook-operator", "github.com/You/x/v2", "guestbook"},
		"component": {"a", "cache", "web-2", "func"},
	} {
		for _, given := range names {
			assert.NoError(t, checks[sort](given), "%s %s", sort, given)
		}
	}
}

func TestWrongNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, sort, given, want string }{
		{"capitals are made small", "name", "GuestbookOperator", "such as guestbook-operator"},
		{"what is between words becomes a dash", "name", "guestbook_operator.", "such as guestbook-operator"},
		{"nothing to make a name of", "name", "", "such as guestbook-operator"},
		{"a digit first: no variable of the environment begins so", "name", "2nd", "such as guestbook-operator"},
		{"YAML reads it as a truth value", "name", "true", "no YAML keyword"},
		{"longer than a label", "name", strings.Repeat("a", 64), "up to 63"},
		{"a path", "name", "../x", "such as x"},
		{"small", "kind", "guestbook", "such as Guestbook"},
		{"words", "kind", "guest-book", "such as GuestBook"},
		{"YAML reads its singular as nothing", "kind", "Null", "no YAML keyword"},
		{"other letters", "kind", "Gästebuch", "such as GStebuch"},
		{"no room for names of objects", "kind", strings.Repeat("A", 51), "up to 50"},
		{"no dot", "group", "apps", "such as apps.example.com"},
		{"capitals", "group", "Example.Com", "such as example.com"},
		{"Kubernetes' own", "group", "apps.k8s.io", "use your own domain"},
		{"Kubernetes' own, all of it", "group", "kubernetes.io", "use your own domain"},
		{"a number for YAML", "group", "1.5", "at least one dot"},
		{"a URL", "group", "https://example.com", "such as https-example-com.example.com"},
		{"no v", "version", "1", "such as v1"},
		{"semantic", "version", "1.2.0", "such as v1"},
		{"a capital", "version", "V1Beta1", "such as v1beta1"},
		{"nothing", "version", "v0", "such as v1"},
		{"a space", "module", "example.com/a b", "such as github.com/you/guestbook-operator"},
		{"no path", "module", "/x", "Go doesn't accept this path"},
		{"capitals", "component", "Cache", "such as cache"},
		{"the controller's file", "component", "controller", "controller.go is the file of the controller"},
		{"too long for names of objects", "component", strings.Repeat("a", 41), "up to 40"},
	} {
		err := checks[row.sort](row.given)
		require.Error(t, err, row.reason)
		assert.Contains(t, err.Error(), row.want, row.reason)
		assert.Contains(t, err.Error(), row.sort, "%s: it says what is wrong", row.reason)
		assert.NotContains(t, err.Error(), "\n", row.reason)
	}
}

// suggested is the name that an error gives as one that would be right.
var suggested = regexp.MustCompile(`such as (.*)$`)

// FuzzNames: whatever is given is right, or told with a name that is right.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"", "a", "Guest_Book", "true", "-", "ä.b", "1.2", "v1", "a/../b", "\xff", "Controller"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		for sort, check := range checks {
			err := check(given)
			if err == nil {
				continue
			}
			found := suggested.FindStringSubmatch(err.Error())
			if assert.NotNil(t, found, err.Error()) {
				assert.NoError(t, check(found[1]), "%s: %v", sort, err)
			}
		}
	})
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, newest, versions, next string }{
		{"the only one", "v1", "v1", "v2"},
		{"the highest number, not the last text", "v10", "v9 v10 v2", "v11"},
		{"stable before a later alpha", "v1", "v1 v2alpha1 v2beta1", "v2"},
		{"beta before alpha", "v1beta1", "v1alpha9 v1beta1", "v1"},
		{"a later beta", "v1beta2", "v1beta2 v1beta1", "v1"},
		{"what isn't a version is last", "v1", "x v1", "v2"},
		{"none", "", "", "v2"},
	} {
		newest := name.NewestVersion(strings.Fields(row.versions)...)
		assert.Equal(t, row.newest, newest, row.reason)
		assert.Equal(t, row.next, name.NextVersion(newest), row.reason)
	}
	assert.Equal(t, "an Ingress, a Guestbook", name.A("Ingress")+", "+name.A("Guestbook"))
}
