package main

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	v2 "github.com/operkit/operkit/examples/shop/api/v2"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// world is a control plane of its own, since definitions and configurations of webhooks are of the whole cluster, with
// an operator's user in it, who has the rights that are shipped.
type world struct {
	*envtest.Env
	*bystander.Bystander
	t        *testing.T
	operator *envtest.User
	api      *cluster.Cluster
	kubectl  string
	// health and metrics are addresses of the operator.
	health, metrics string
}

func newWorld(t *testing.T, definition string, flags ...string) *world {
	t.Helper()
	env := envtest.Start(t, envtest.OwnCluster(flags...), envtest.CRDs(definition))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	binary, err := devcluster.Binary(t.Context(), nil)
	require.NoError(t, err)
	operator := env.User(t, "operator", envtest.RolesIn("config/rbac/role.yaml"))
	return &world{
		Env: env, Bystander: bystander.New(t, api, env.Namespace, "somebody"), t: t, operator: operator, api: api,
		kubectl: binary, health: freeAddress(t), metrics: freeAddress(t),
	}
}

// start runs the operator, which the API server reaches on this machine.
func (w *world) start() *program.Process {
	w.t.Helper()
	address := freeAddress(w.t)
	return program.Start(w.t, program.Command("run", "--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig(w.t, w.operator),
		"--webhooks.url", "https://"+address, "--webhooks.address", address, "--leader-election.lock", "none",
		"--health.address", w.health, "--metrics.address", w.metrics))
}

// freeAddress returns an address that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// street creates the ConfigMap of a street.
func (w *world) street(name, colours string) {
	w.t.Helper()
	w.Create(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"colours": colours},
	}})
}

// run runs kubectl with input in the world's namespace.
func (w *world) run(input string, args ...string) program.Result {
	w.t.Helper()
	command := exec.CommandContext(w.t.Context(), w.kubectl, append([]string{"kubectl", "--dir", w.Dir, "-n", w.Namespace}, args...)...)
	command.Stdin = strings.NewReader(input)
	return program.Run(w.t, command)
}

// ok runs kubectl, which has to succeed, and returns what it prints.
func (w *world) ok(input string, args ...string) string {
	w.t.Helper()
	result := w.run(input, args...)
	require.Zero(w.t, result.Code, "kubectl %v\n%s", args, result.Output())
	return result.Stdout
}

// get returns an object as kubectl prints it.
func (w *world) get(resource, name string) map[string]any {
	w.t.Helper()
	var object map[string]any
	require.NoError(w.t, json.Unmarshal([]byte(w.ok("", "get", resource, name, "-o", "json")), &object))
	return object
}

// whole returns a shop as the operator reads it, without what each write changes.
func (w *world) whole(name string) map[string]any {
	w.t.Helper()
	content := w.stored(name).Object
	for _, field := range []string{"resourceVersion", "managedFields", "generation"} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	return content
}

// stored returns a shop as the operator reads it.
func (w *world) stored(name string) *unstructured.Unstructured {
	w.t.Helper()
	found, err := w.api.Port().Get(w.t.Context(), deploy.Ref{Kind: v2.ShopKind, Namespace: w.Namespace, Name: name})
	require.NoError(w.t, err)
	return found
}

// settled waits until a shop is Ready as it is now, and the operator hasn't written for a while.
func (w *world) settled(name string) {
	w.t.Helper()
	w.Eventually("the shop is Ready", func() bool {
		shop := w.stored(name)
		conditions := status.Conditions(shop)
		ready, _ := conditions.Get(status.ConditionReady)
		updating, _ := conditions.Get(status.ConditionUpdating)
		return ready.Status == "True" && updating.Status == "False" && ready.ObservedGeneration == shop.GetGeneration()
	})
	w.AwaitQuiet(w.t, w.operator)
}

// ready reports whether the operator is ready.
func (w *world) ready() bool {
	response, err := http.Get("http://" + w.health + "/readyz")
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode == http.StatusOK
}

// answered returns how often the operator has answered the API server, by a part of the metric's labels.
func (w *world) answered(label string) (sum int) {
	w.t.Helper()
	response, err := http.Get("http://" + w.metrics + "/metrics")
	require.NoError(w.t, err)
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(name, "operkit_webhook_request_duration_seconds_count{") && strings.Contains(name, label) {
			count, err := strconv.ParseFloat(value, 64)
			require.NoError(w.t, err)
			sum += int(count)
		}
	}
	return sum
}
