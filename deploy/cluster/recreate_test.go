package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Job whose template admission has rewritten isn't run again because of it.
func TestRecreateWithAdmission(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	intent := func(label, image string) *unstructured.Unstructured {
		return object(t, env.Namespace, fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, labels: {release: %s}}
spec:
  suspend: true
  template:
    spec: {restartPolicy: Never, containers: [{name: migrate, image: "example.invalid/migrate:%s"}]}`, label, image))
	}
	rewritten := object(t, "", `{spec: {template: {spec: {containers: [{name: migrate}, {name: sidecar}]}}}}`)
	rewriting(t, env, "jobs", "batch", "jobs", fmt.Sprintf(jsonPatch, `object.spec.template.spec.containers.exists(c, c.name == "sidecar") ? [] :
      [JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{name: "sidecar", image: "example.invalid/sidecar:1"}}]`))
	awaitPolicy(t, env, intent("a", "1"), rewritten)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, job)
	m := must(deploy.NewManager(c, deploy.DefaultStrategy(deploy.Recreate)))

	first := apply(t, m, intent("a", "1")).Object
	requireShows(t, first, rewritten, "a sidecar comes with it")
	labelled := apply(t, m, intent("b", "1"))
	assert.Equal(t, deploy.Configured, labelled.Action, "a label can be changed")
	assert.Equal(t, first.GetUID(), labelled.Object.GetUID())
	renewed := apply(t, m, intent("b", "2"))
	assert.Equal(t, deploy.Recreated, renewed.Action, "the image of a Job can't")
	assert.NotEqual(t, first.GetUID(), renewed.Object.GetUID())
}

// What a policy denies only to a creation would be lost if it was deleted first.
func TestRecreateDeniedAtCreation(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	denied := object(t, env.Namespace, with(aJob, "c:1", "c:latest"))
	policy(t, env, "ValidatingAdmissionPolicy", "no-latest", "batch", "jobs", "  validations: [{expression: 'object.spec.template.spec.containers.all(c, !c.image.endsWith(\":latest\"))', message: latest is not allowed here}]", ", validationActions: [Deny]")
	require.Eventually(t, func() bool {
		_, err := others(t, env, job).Create(t.Context(), denied, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil
	}, patience, 50*time.Millisecond, "the policy doesn't come to hold")
	m := must(deploy.NewManager(newCluster(t, env.Config, cluster.Namespaces(env.Namespace)), deploy.DefaultStrategy(deploy.Recreate)))
	before := apply(t, m, object(t, env.Namespace, aJob)).Object
	results, err := m.Apply(t.Context(), []*unstructured.Unstructured{denied})
	require.ErrorContains(t, err, "latest is not allowed here")
	assert.Equal(t, deploy.Failed, results[0].Action)
	live, err := others(t, env, job).Get(t.Context(), before.GetName(), metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, before.GetUID(), live.GetUID())
}
