package celready_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/celready"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Arcade controls arcades: a game server, whose kind is somebody else's, and a door that opens once the server is ready.
type Arcade struct {
	server *celready.Rule
}

// NewArcade compiles the expressions: a mistake in them ends the program when it starts.
func NewArcade() (Arcade, error) {
	server, err := celready.Compile(celready.Expressions{
		Ready:   "object.status.state in ['Ready', 'Allocated']",
		Failed:  "object.status.state in ['Error', 'Unhealthy']",
		Message: "'the server is ' + object.status.state",
	})
	return Arcade{server}, err
}

// Setup implements reconcile.Controller.
func (a Arcade) Setup(_ context.Context, s *reconcile.Session) error {
	game := s.Add("game")
	game.Add("server", map[string]any{
		"apiVersion": "agones.dev/v1", "kind": "GameServer",
		"metadata": map[string]any{"name": s.ScopedName("game")},
	}, reconcile.ReadyWhen(a.server.Judge))
	door := s.Add("door", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": s.ScopedName("door")},
		"data":     map[string]any{"sign": "open"},
	})
	door.After(game, reconcile.Ready)
	return nil
}

// Kind implements reconcile.Controller.
func (Arcade) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Arcade"}
}

const arcade = `
apiVersion: example.dev/v1
kind: Arcade
metadata: {name: pier}`

// console is a T that prints, for the examples: a test has its *testing.T.
type console struct{ testing.TB }

func (console) Helper()                           {}
func (console) Context() context.Context          { return context.Background() }
func (console) Cleanup(func())                    {}
func (console) Failed() bool                      { return false }
func (console) Logf(string, ...any)               {}
func (console) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (console) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// An operator whose components wait for an object of a kind that has no condition Ready.
func ExampleRule_Judge() {
	controller, err := NewArcade()
	if err != nil {
		fmt.Println(err)
		return
	}
	h := reconciletest.New(console{}, controller)
	h.Apply(arcade)
	for _, state := range []string{"", "Starting", "Ready"} {
		if state != "" {
			h.SetStatus("GameServer pier-game", map[string]any{"state": state})
		}
		h.RunUntilSettled()
		ready := h.Condition("Arcade pier", "Ready")
		fmt.Println(ready.Status, ready.Reason, "-", ready.Message)
	}
	h.Exists("ConfigMap pier-door")
	// Output:
	// False Initializing - door waits for game (its gate is closed); game: GameServer pier-game: InProgress (object.status.state isn't there yet)
	// False Initializing - door waits for game (its gate is closed); game: GameServer pier-game: InProgress (the server is Starting)
	// True Stable - Verify Complete
}

func ExampleCompile() {
	_, err := celready.Compile(celready.Expressions{
		Ready:   "object.status.phase = 'Running'",
		Failed:  "status.phase == 'Failed'",
		Message: "object.status.conditions.exists(c, c.type == 'Ready')",
	})
	fmt.Println(err)
	// Output:
	// ready:1:21: Syntax error: token recognition error at: '= '
	//  | object.status.phase = 'Running'
	//  | ....................^
	// ready:1:23: Syntax error: extraneous input ''Running'' expecting <EOF>
	//  | object.status.phase = 'Running'
	//  | ......................^
	// failed:1:1: undeclared reference to 'status'
	//  | status.phase == 'Failed'
	//  | ^
	// message:1:32: is of the type bool: it must be of the type string
	//  | object.status.conditions.exists(c, c.type == 'Ready')
	//  | ...............................^
}

func ExampleRule_Result() {
	rule, err := celready.Compile(celready.Expressions{
		Ready:   "object.status.observedGeneration == string(object.metadata.generation) && object.status.phase == 'Healthy'",
		Failed:  "object.status.phase == 'Degraded'",
		Message: "object.status.message",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rollouts := schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}
	checker := readiness.Checker{Registry: readiness.Registry{rollouts: {Func: rule.Result}}}
	rollout := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout",
		"metadata": map[string]any{"name": "web", "namespace": "shop", "generation": int64(3)},
	}}
	for _, status := range []map[string]any{
		nil,
		{"observedGeneration": "3", "phase": "Paused", "message": "CanaryPauseStep"},
		{"observedGeneration": "3", "phase": "Degraded", "message": "ProgressDeadlineExceeded"},
		{"observedGeneration": "3", "phase": "Healthy"},
	} {
		if status != nil {
			rollout.Object["status"] = status
		}
		result := checker.Of(rollout)
		fmt.Println(result.Object, result.State, result.Reason, "-", result.Message)
	}
	// Output:
	// Rollout.argoproj.io shop/web InProgress FieldMissing - object.status.observedGeneration isn't there yet
	// Rollout.argoproj.io shop/web InProgress NotReady - CanaryPauseStep
	// Rollout.argoproj.io shop/web Failed Failed - ProgressDeadlineExceeded
	// Rollout.argoproj.io shop/web Ready Ready - the expression ready is true: object.status.observedGeneration == string(object.metadata.generation) && object.status.phase == 'Healthy'
}

// Expressions of several kinds, such as those of a configuration.
func ExampleRegistry() {
	registry, err := celready.Registry(map[schema.GroupKind]celready.Expressions{
		{Group: "example.dev", Kind: "Database"}: {
			Ready:   "object.status.members >= object.spec.members",
			Message: "'%d of %d members'.format([object.status.members, object.spec.members])",
		},
		{Group: "example.dev", Kind: "Cache"}: {Ready: "object.status.?warm.orValue(false)"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := readiness.Checker{Registry: registry}.Of(map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Database", "spec": map[string]any{"members": 3}, "status": map[string]any{"members": 2},
	})
	fmt.Println(result.State, "-", result.Message)
	// Output:
	// InProgress - 2 of 3 members
}

func ExampleCostLimit() {
	rule, err := celready.Compile(celready.Expressions{Ready: "object.spec.parts.all(p, p in object.status.parts)"}, celready.CostLimit(50))
	if err != nil {
		fmt.Println(err)
		return
	}
	parts := []any{"a", "b", "c", "d", "e", "f", "g", "h"}
	err = rule.Judge(context.Background(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Machine", "spec": map[string]any{"parts": parts}, "status": map[string]any{"parts": parts},
	}})
	fmt.Println(err)
	// Output:
	// Unknown (Machine.example.dev: the expression ready costs more than the limit of 50: simplify it, or allow more by the option celready.CostLimit)
}
