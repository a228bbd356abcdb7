package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, text string) module {
	t.Helper()
	var m module
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	return m
}

func TestPlan(t *testing.T) {
	t.Parallel()
	upstream := parse(t, `{"Replace": [
		{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
		{"Old": {"Path": "k8s.io/new"}, "New": {"Path": "./staging/src/k8s.io/new"}},
		{"Old": {"Path": "example.dev/fork"}, "New": {"Path": "example.dev/other", "Version": "v1.0.0"}}],
		"Godebug": [{"Key": "default", "Value": "go1.26"}]}`)
	for _, row := range []struct {
		reason, own string
		want        []string
	}{
		{"a module of its own without anything gets it all", `{}`, []string{
			"-require=k8s.io/kubernetes@v1.36.3", "-replace=k8s.io/api=k8s.io/api@v0.36.3",
			"-replace=k8s.io/new=k8s.io/new@v0.36.3", "-godebug=default=go1.26",
		}},
		{"up to date: nothing to do, and a replacement of another origin stays", `{
			"Require": [{"Path": "k8s.io/kubernetes", "Version": "v1.36.3"}],
			"Replace": [
				{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "k8s.io/api", "Version": "v0.36.3"}},
				{"Old": {"Path": "k8s.io/new"}, "New": {"Path": "k8s.io/new", "Version": "v0.36.3"}},
				{"Old": {"Path": "example.dev/mine"}, "New": {"Path": "../mine"}}],
			"Godebug": [{"Key": "default", "Value": "go1.26"}]}`, nil},
		{"another version, and a module that Kubernetes no longer has", `{
			"Require": [{"Path": "k8s.io/kubernetes", "Version": "v1.35.0"}],
			"Replace": [
				{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "k8s.io/api", "Version": "v0.35.0"}},
				{"Old": {"Path": "k8s.io/gone"}, "New": {"Path": "k8s.io/gone", "Version": "v0.35.0"}}],
			"Godebug": [{"Key": "default", "Value": "go1.25"}]}`, []string{
			"-require=k8s.io/kubernetes@v1.36.3", "-replace=k8s.io/api=k8s.io/api@v0.36.3",
			"-replace=k8s.io/new=k8s.io/new@v0.36.3", "-dropreplace=k8s.io/gone", "-godebug=default=go1.26",
		}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := plan(parse(t, row.own), upstream, "v1.36.3")
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

func TestPlanRefusesVersion(t *testing.T) {
	t.Parallel()
	_, err := plan(module{}, module{}, "1.36.3")
	assert.ErrorContains(t, err, `version "1.36.3"`)
	_, err = environment("v1.36")
	assert.ErrorContains(t, err, `version "v1.36"`)
}

// TestFresh proves that the committed files are what this program writes.
func TestFresh(t *testing.T) {
	t.Chdir("..")
	require.NoError(t, run(t.Context(), "", true))
}

func TestCheckSeesStaleFiles(t *testing.T) {
	t.Chdir("..")
	raw, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	env, err := os.ReadFile(buildEnv)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("go.mod", raw, 0o600))
	require.NoError(t, os.WriteFile(buildEnv, append(env, "X=1\n"...), 0o600))
	assert.ErrorContains(t, run(t.Context(), "", true), "build.env is out of date")

	require.NoError(t, edit(t.Context(), []string{"-dropreplace=k8s.io/api"}))
	assert.ErrorContains(t, run(t.Context(), "", true), "-replace=k8s.io/api=k8s.io/api@v0.36.3")

	require.NoError(t, run(t.Context(), "", false))
	assert.NoError(t, run(t.Context(), "", true), "what was written is up to date")
}
