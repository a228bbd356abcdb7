package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

// composite is a definition whose hook isn't there any more.
const composite = `
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: catsets}
spec:
  parentResource: {apiVersion: hooks.operkit.dev/v1, resource: catsets}
  childResources: [{apiVersion: v1, resource: configmaps}]
  hooks: {sync: {exec: {command: [gone]}}}
`

// playbooks are watches whose playbook isn't there.
const playbooks = `
- {group: hooks.operkit.dev, version: v1, kind: CatSet, playbook: PLAYBOOK, finalizer: {name: cats.example.dev/finalizer, vars: {a: b}}}
`

func TestRelease(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster(), envtest.CRDs("config/crd", "internal/controller/testdata/crds"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	somebody := bystander.New(t, api, env.Namespace, "somebody")
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	playbook := file("cats.yml", "[]")
	kubeconfig := env.Kubeconfig(t, env.User(t, "uninstaller", envtest.ClusterWide(
		rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}})))
	const ofDefinition, ofPlaybook, others = "metacontroller.io/compositecontroller-catsets", "cats.example.dev/finalizer", "example.dev/others"
	// The definition in the cluster is made before the last row.
	for _, row := range []struct {
		reason string
		flags  []string
		left   []string
		code   int
		says   string
	}{
		{"no definitions are named", nil, []string{ofDefinition, ofPlaybook, others}, 1, "no definitions: set --definitions"},
		{"those of files, whose hooks are gone", []string{"--definitions", file("catsets.yaml", composite)}, []string{ofPlaybook, others}, 0, "still held by"},
		{"those of playbooks", []string{"--watches", file("watches.yaml", strings.ReplaceAll(playbooks, "PLAYBOOK", playbook))}, []string{ofDefinition, others}, 0, "still held by"},
		{"those of the cluster", []string{"--cluster-definitions"}, []string{ofPlaybook, others}, 0, "definitions with a mistake are left out"},
	} {
		t.Run("hooks 89: "+row.reason, func(t *testing.T) {
			if len(row.flags) == 1 {
				wrong := strings.Replace(composite, "catsets}", "wrong}", 1)
				somebody.CreateYAML(strings.ReplaceAll(wrong, "hooks: {", "colour: red\n  hooks: {"))
				somebody.CreateYAML(strings.ReplaceAll(composite, "exec: {command: [gone]}", "webhook: {url: 'http://127.0.0.1:1/sync'}"))
			}
			somebody.CreateYAML("{apiVersion: hooks.operkit.dev/v1, kind: CatSet, metadata: {name: tom, finalizers: [" +
				strings.Join([]string{ofDefinition, ofPlaybook, others}, ", ") + "]}, spec: {size: 1, selector: {matchLabels: {cats: tom}}}}")
			args := append([]string{"release", "--all", "--yes", "-n", env.Namespace, "--leader-election.namespace", env.Namespace, "--kubeconfig", kubeconfig}, row.flags...)
			result := program.Run(t, program.Command(args...))
			assert.Equal(t, row.code, result.Code, result.Output())
			assert.Contains(t, result.Output(), row.says)
			assert.Equal(t, row.left, somebody.Get(catSets, "tom").GetFinalizers())
			somebody.Merge(catSets, "tom", `{"metadata":{"finalizers":null}}`)
			somebody.Delete(catSets, "tom")
		})
	}
}
