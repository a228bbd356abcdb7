package main

import (
	"slices"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/buckets/api/v1"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// buckets is the resource whose calls are counted.
const buckets = "buckets.examples.operkit.dev"

// world is a namespace of a real control plane in which the operator runs, as a user with exactly the rights that are
// shipped, a cloud, and somebody else who looks and meddles.
type world struct {
	*envtest.Env
	*bystander.Bystander
	*weather
	t        *testing.T
	operator *envtest.User
	process  *program.Process
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w := &world{
		Env: env, Bystander: bystander.New(t, api, env.Namespace, "somebody"), weather: newWeather(t), t: t,
		operator: env.User(t, "operator", envtest.RolesIn("config/rbac/role.yaml")),
	}
	w.start()
	return w
}

func (w *world) start() {
	w.process = program.Start(w.t, program.Command(w.args("run", "--cloud.url", w.URL, "--cloud.poll", "20ms", "--watch.period", "0")...))
}

// args returns the arguments of a command in the world's namespace.
func (w *world) args(args ...string) []string {
	return append(args, "--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig(w.t, w.operator))
}

// command runs a command of the operator, which has to succeed, and returns its output.
func (w *world) command(args ...string) string {
	w.t.Helper()
	result := program.Run(w.t, program.Command(w.args(args...)...))
	require.Zero(w.t, result.Code, result.Output())
	return result.Output()
}

// create creates the sample in the world's namespace.
func (w *world) create() {
	w.t.Helper()
	w.CreateFile("config/sample.yaml")
}

// name is the name of the sample's bucket in the cloud.
func (w *world) name() string { return w.Namespace + ".photos" }

// bucket is the bucket in the cluster, nil if there is none.
func (w *world) bucket() *unstructured.Unstructured {
	w.t.Helper()
	return w.Get(v1.BucketKind, "photos")
}

// settled waits until the cloud has the sample's bucket with its quota, and nothing is left to do.
func (w *world) settled(quota int64) {
	w.t.Helper()
	w.Eventually("the quota is set", func() bool { return w.Buckets()[w.name()].Quota == quota })
	w.AwaitQuiet(w.t, w.operator)
}

// added waits until the watcher "cloud" has added the sample's bucket.
func (w *world) added() {
	w.t.Helper()
	w.Eventually("the bucket is held", func() bool {
		return slices.Equal(w.bucket().GetFinalizers(), []string{"buckets.examples.operkit.dev/cloud"})
	})
	require.Contains(w.t, w.Buckets(), w.name())
}

// gone waits until the bucket is gone, here and in the cloud.
func (w *world) gone() {
	w.t.Helper()
	w.Eventually("the bucket is gone", func() bool { return w.bucket() == nil })
	require.Empty(w.t, w.Buckets())
}

// writes are the counted writes of the operator to buckets since a mark.
func (w *world) writes(mark envtest.Mark) map[string]int {
	w.t.Helper()
	w.AwaitQuiet(w.t, w.operator)
	return w.CallsSince(w.t, mark, w.operator).Of(buckets).Writes().Count()
}
