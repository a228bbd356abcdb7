package reconcile_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// diarist is a controller that writes down how rollouts go.
type diarist struct{ setup }

// AfterDeploy implements reconcile.AfterDeployer.
func (diarist) AfterDeploy(_ context.Context, _ *reconcile.Session, deployed reconcile.Outcome) error {
	fmt.Println("all is deployed:", deployed.Graph())
	return nil
}

// AfterIncomplete implements reconcile.AfterIncompleter.
func (diarist) AfterIncomplete(_ context.Context, _ *reconcile.Session, outcome reconcile.Outcome) error {
	fmt.Println("all is deployed:", outcome.Deployed())
	fmt.Println("failed:", outcome.Err())
	fmt.Println("waiting:", outcome.Waiting())
	return nil
}

// Exhausted implements reconcile.Exhauster.
func (diarist) Exhausted(_ context.Context, s *reconcile.Session, err error) error {
	fmt.Println(s.Name(), "is given up:", err)
	return nil
}

// Scope implements reconcile.Scoper.
func (diarist) Scope() deploy.Scope { return deploy.Namespaced }

func ExampleAfterIncompleter() {
	reconcileOnce(diarist{func(_ context.Context, s *reconcile.Session) error {
		store := s.Add("store", map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "store"}, "spec": map[string]any{"replicas": 1},
		})
		s.Add("door", configMap("door")).After(store, reconcile.Deployed)
		return nil
	}})
	// Output:
	// all is deployed: Graph({store:[],door:[store]})
	// all is deployed: true
	// failed: <nil>
	// waiting: component store: Deployment store: InProgress (the controller hasn't observed the object yet)
}

// carpenter is a component that can't be made.
type carpenter struct{}

func (carpenter) Build(context.Context, *reconcile.Session, *reconcile.Component) error {
	return errors.New("no wood")
}

func ExampleExhauster() {
	reconcileAgain(emptyCluster(), diarist{func(_ context.Context, s *reconcile.Session) error {
		s.Use("door", carpenter{})
		return nil
	}}, reconcile.MaxAttempts(1))
	// Output:
	// all is deployed: false
	// failed: component door: build: no wood
	// waiting: <nil>
	// tea is given up: given up after 1 attempts: component door: build: no wood
	// failed: given up after 1 attempts: component door: build: no wood
}

// tenant is a component that moves in and out in its own way.
type tenant struct{}

func (tenant) Build(_ context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	c.Add("door", configMap("door"))
	return nil
}

// Deploy implements reconcile.Deployer.
func (tenant) Deploy(ctx context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	fmt.Println("moving in")
	return c.Apply(ctx)
}

// Disable implements reconcile.Disabler.
func (tenant) Disable(ctx context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	err := c.Remove(ctx)
	fmt.Println("moved out:", err)
	return err
}

func ExampleDisabler() {
	cluster := emptyCluster()
	for _, wanted := range []bool{true, false} {
		reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
			if c := s.Use("tenant", tenant{}); !wanted {
				c.Disable()
			}
			return nil
		}))
		fmt.Println(len(cluster.Objects()), "objects")
	}
	// Output:
	// moving in
	// 2 objects
	// moved out: <nil>
	// 1 objects
}

// Whoever deploys what is described calls the methods of the controller for it.
func ExampleDescription_Builder() {
	r := quietReconciler(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Use("till", till{"tea leaves"})
		return nil
	}))
	description, err := r.Describe(context.Background(), shop(), reconcile.Describing{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer description.Release()
	ctx := description.Context(context.Background())
	for _, c := range description.Session().Components() {
		if reviser, is := description.Builder(c).(reconcile.Reviser); is {
			sign := configMap("sign")
			err := reviser.Revise(ctx, description.Session(), "sign", sign)
			fmt.Println(sign.Object["data"], description.Err(err))
		}
	}
	// Output: map[sign:sign in tea leaves] <nil>
}

func ExamplePlan() {
	cluster := emptyCluster()
	for _, name := range []string{"door", ""} {
		reconciler, err := reconcile.New(setup(func(_ context.Context, s *reconcile.Session) error {
			s.Add("door", configMap(name))
			return nil
		}), must(deploy.NewManager(cluster)))
		if err != nil {
			fmt.Println(err)
			return
		}
		plan, err := reconciler.Plan(context.Background(), cluster.Objects()[0])
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(plan.Changed(), plan.Err())
	}
	// Output:
	// true <nil>
	// false component door: ConfigMap without name: invalid manifest: metadata.name is missing
}

func ExampleStates() {
	fmt.Println(reconcile.States())
	// Output: [verified unverified failed unstarted disabled]
}

// The version that a shop wants stands in a field of its own; the status says what parents of it read.
func ExampleStatus_serviceStatus() {
	cluster := emptyCluster()
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		fmt.Printf("sign %q is the version\n", s.Version())
		return nil
	}), reconcile.VersionField("spec.sign"), reconcile.OperatorVersion("7.0.0"), reconcile.Status(reconcile.ServiceStatus))
	content, _, err := unstructured.NestedMap(cluster.Objects()[0].Object, "status")
	fmt.Println(content["shopStatus"], content["operatorVersion"], err)
	// Output:
	// sign "open" is the version
	// Completed 7.0.0 <nil>
}
