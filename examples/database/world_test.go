package main

import (
	"os"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// patchCRD is the definition of temporary patches, which whoever runs a cluster may install.
const patchCRD = "../../reconcile/temporarypatch/operkit.dev_temporarypatches.yaml"

var (
	claims       = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	pods         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	patches      = schema.GroupVersionKind{Group: "operkit.dev", Version: "v1", Kind: "TemporaryPatch"}
	secrets      = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	statefulSets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
	cronJobs     = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"}
	jobKind      = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
)

// world is a namespace of a real control plane in which the operator runs, as a user with the rights of the role that
// is shipped and no other, and somebody else who looks and meddles.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
	api      *cluster.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd", patchCRD))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	operator := env.User(t, "operator", envtest.RolesIn("config/rbac/role.yaml"))
	program.Start(t, program.Command("run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, operator)))
	return &world{env, bystander.New(t, api, env.Namespace, "somebody"), t, operator, api}
}

// settledWorld is one in which the sample is rolled out.
func settledWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, obj := range sample(t) {
		w.Create(obj)
	}
	w.settled()
	return w
}

// database returns the sample, as it is now.
func (w *world) database() *unstructured.Unstructured { return w.Get(v1.DatabaseKind, "hello") }

// settled waits until the sample is Ready as it is now, and the operator hasn't written for a while.
func (w *world) settled() {
	w.t.Helper()
	w.Eventually("the database becomes Ready", func() bool {
		db := w.database()
		ready, _ := status.Conditions(db).Get(status.ConditionReady)
		updating, _ := status.Conditions(db).Get(status.ConditionUpdating)
		return ready.Status == "True" && updating.Status == "False" && ready.ObservedGeneration == db.GetGeneration()
	})
	w.AwaitQuiet(w.t, w.operator)
}

// field returns a text of an object, empty if there is none.
func (w *world) field(kind schema.GroupVersionKind, name string, path ...string) string {
	w.t.Helper()
	obj := w.Get(kind, name)
	if obj == nil {
		return ""
	}
	text, _, err := unstructured.NestedString(obj.Object, path...)
	require.NoError(w.t, err)
	return text
}

// sample returns the objects of the sample that is shipped, which is called hello.
func sample(t *testing.T) (objects []*unstructured.Unstructured) {
	t.Helper()
	content, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	for _, document := range strings.Split(string(content), "\n---\n") {
		obj := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &obj.Object))
		objects = append(objects, obj)
	}
	return objects
}
