package vcs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var widget = Values{
	Version: "1.0", Kind: "Widget", APIVersion: "foo.bar.com/v1", Namespace: "shop", Name: "test_instance",
	Object: map[string]any{"spec": map[string]any{
		"version": "2.0", "list": []any{map[string]any{"test": "x"}}, "number": int64(7), "float": 1.10, "map": map[string]any{}, "up": "..", "slash": "a/b", "lock": ".stable.lock", "empty": "",
	}},
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, template, want string }{
		{"vcs 12: a version", "/t/{version}", "/t/1.0"},
		{"vcs 12: several, and a slash at the end", "/t/{version}/{kind}/{name}/", "/t/1.0/Widget/test_instance"},
		{"vcs 10: a value of the resource", "/t/{spec[version]}", "/t/2.0"}, {"vcs 10: an item of a list", "/t/{spec[list][0][test]}", "/t/x"},
		{"a whole number", "/t/{spec[number]}", "/t/7"}, {"vcs W2: nothing is dropped", "/t/{apiVersion}", "/t/foo.bar.com%2Fv1"},
		{"vcs W1: a path is one element", "/t/{spec[slash]}", "/t/a%2Fb"}, {"vcs W2: what could be a lock of another one", "/t/{spec[lock]}", "/t/%2Estable.lock"}, {"several in one element", "/t/v{version}-{kind}", "/t/v1.0-Widget"},
		{"braces", "/t/{{x}}/{version}", "/t/{x}/1.0"}, {"no field", "/t/fixed", "/t/fixed"}, {"a relative one", "cache/{version}", "cache/1.0"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			parsed, err := ParseTemplate(row.template)
			require.NoError(t, err)
			got, err := parsed.Render(widget)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.template, parsed.String())
		})
	}
	parsed, err := ParseTemplate("/t/{namespace}/{name}")
	require.NoError(t, err)
	got, err := parsed.Render(Values{Name: "x"})
	require.NoError(t, err)
	assert.Equal(t, "/t/_cluster/x", got, "vcs W3: in no namespace")
	assert.Equal(t, "/t", parsed.Base())
}

func TestTemplateRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, template, want string }{
		{"vcs 12: an unknown key", "/t/{nokey}", "there is no such field"}, {"an open brace", "/t/{version", "isn't closed"}, {"a closed one", "/t/version}", "closes nothing"},
		{"nothing in braces", "/t/{}", "it has no name"}, {"vcs W10: attributes", "/t/{metadata.name}", "write {a[b][0]}"}, {"half an index", "/t/{spec[a}", "write {a[b][0]}"},
		{"an empty index", "/t/{spec[]}", "write {a[b][0]}"}, {"behind an index", "/t/{spec[a]b}", "write {a[b][0]}"}, {"empty", "", "it is empty"},
		{"above", "/t/../{version}", "the element .."}, {"nothing before", "{version}/x", "begin with a folder"}, {"a nul", "/t/\x00/{version}", "a NUL"}, {"a conversion", "/t/{version!r}", "write {a[b][0]}"},
	} {
		_, err := ParseTemplate(row.template)
		var config *ConfigError
		require.True(t, errors.As(err, &config), "%s: %v", row.reason, err)
		assert.ErrorContains(t, err, row.want, row.reason)
	}
	for _, row := range []struct {
		reason, template string
		values           Values
		want             string
	}{
		{"vcs 12: no such value", "/t/{spec[nokey]}", widget, "the resource has no nokey"}, {"no such item", "/t/{spec[list][1][test]}", widget, "no item 1"},
		{"vcs W1: a parent", "/t/{spec[up]}", widget, `".." can't be in a path`}, {"vcs W1: a parent as the version", "/t/{version}", Values{Version: ".."}, "can't be in a path"},
		{"vcs W1: the folder itself", "/t/{version}", Values{Version: "."}, "can't be in a path"}, {"vcs W1: nothing", "/t/{version}", Values{}, "can't be in a path"},
		{"vcs W1: an empty value", "/t/{spec[empty]}", widget, "can't be in a path"}, {"vcs W1: an option", "/t/{version}", Values{Version: "-rf"}, "begins with a hyphen"},
		{"a number that isn't whole", "/t/{spec[float]}", widget, "write it in quotes"}, {"a map", "/t/{spec[map]}", widget, "which isn't text"}, {"deeper than it is", "/t/{spec[version][x]}", widget, "no x"},
		{"a long name", "/t/{version}", Values{Version: strings.Repeat("x", 300)}, "longer than 255"}, {"dots that come together", "/t/.{version}", Values{Version: "."}, "can't be in a path"},
	} {
		parsed, err := ParseTemplate(row.template)
		require.NoError(t, err, row.reason)
		_, err = parsed.Render(row.values)
		var config *ConfigError
		require.True(t, errors.As(err, &config), "%s: %v", row.reason, err)
		assert.ErrorContains(t, err, row.want, row.reason)
	}
}

func TestTemplateFollowsNoLinks(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	require.NoError(t, os.Symlink("/tmp", filepath.Join(base, "1.0")))
	parsed, err := ParseTemplate(base + "/{version}/{name}")
	require.NoError(t, err)
	_, err = parsed.Render(widget)
	require.ErrorContains(t, err, "is a symbolic link")
}

func FuzzTemplate(f *testing.F) {
	f.Add("/base/{version}/{name}", "1.0", "x")
	f.Add("/base/{spec[a]}", "..", "../..")
	f.Add("/base/.{version}.", "%2e", "a\x00b")
	f.Fuzz(func(t *testing.T, text, version, name string) {
		parsed, err := ParseTemplate(text)
		if err != nil {
			return
		}
		values := Values{Version: version, Kind: "K", Name: name, Object: map[string]any{"spec": map[string]any{"a": version}}}
		path, err := parsed.Render(values)
		if err != nil {
			return
		}
		below, err := filepath.Rel(parsed.Base(), path)
		assert.NoError(t, err)
		assert.True(t, filepath.IsLocal(below), "%q of %q", path, text)
		assert.NotContains(t, path, "\x00")
	})
}

func FuzzInjective(f *testing.F) {
	f.Add("a-b", "ab")
	f.Add("a/b", "a%2Fb")
	f.Add(".a", "%2Ea")
	f.Fuzz(func(t *testing.T, a, b string) {
		one, err := escaped(a)
		other, otherErr := escaped(b)
		if err == nil && otherErr == nil {
			assert.Equal(t, a == b, one == other, "%q and %q are %q and %q", a, b, one, other)
		}
	})
}
