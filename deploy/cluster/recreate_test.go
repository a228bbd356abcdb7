package cluster_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
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
	m := deploy.NewManager(c, deploy.By(deploy.Recreate))

	first := apply(t, m, intent("a", "1")).Object
	requireShows(t, first, rewritten, "a sidecar comes with it")
	labelled := apply(t, m, intent("b", "1"))
	assert.Equal(t, deploy.Configured, labelled.Action, "a label can be changed")
	assert.Equal(t, first.GetUID(), labelled.Object.GetUID())
	renewed := apply(t, m, intent("b", "2"))
	assert.Equal(t, deploy.Recreated, renewed.Action, "the image of a Job can't")
	assert.NotEqual(t, first.GetUID(), renewed.Object.GetUID())
}
