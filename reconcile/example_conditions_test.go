package reconcile_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// archive is a controller with a condition of its own.
type archive struct{ setup }

// Conditions implements reconcile.ConditionDeclarer.
func (archive) Conditions() (*status.Declaration, error) {
	return status.Declare(status.Declared{Type: "BackedUp"})
}

// printBackup prints the condition BackedUp of the shop.
func printBackup(cluster deploy.Cluster) {
	tea, err := cluster.Port().Get(context.Background(), deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"})
	if err != nil {
		fmt.Println(err)
		return
	}
	backup, _ := status.Conditions(tea).Get("BackedUp")
	fmt.Println(backup.Status, backup.Reason)
}

func ExampleConditionDeclarer() {
	cluster := emptyCluster()
	reconcileAgain(cluster, archive{func(context.Context, *reconcile.Session) error { return nil }})
	printBackup(cluster)
	// Output: Unknown Initializing
}

func ExampleSession_Conditions() {
	cluster := emptyCluster()
	reconcileAgain(cluster, archive{func(ctx context.Context, s *reconcile.Session) error {
		own := s.Conditions()
		own.Set("BackedUp", metav1.ConditionFalse, "Running", "")
		if err := own.Flush(ctx); err != nil { // long work follows
			return err
		}
		printBackup(cluster)
		own.Result("BackedUp", nil)
		return own.Err()
	}})
	printBackup(cluster)
	// Output:
	// False Running
	// True Succeeded
}

func ExampleReconciler_Conditions() {
	manager, err := deploy.NewManager(emptyCluster())
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(archive{setEndpoint}, manager)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, declared := range reconciler.Conditions() {
		fmt.Println(declared.Type)
	}
	// Output: BackedUp
}

// setEndpoint is a Setup that reports where the database is found.
func setEndpoint(_ context.Context, s *reconcile.Session) error {
	s.SetStatus("database.endpoint", s.ScopedName("db")+"."+s.Namespace()+".svc:5432")
	return nil
}

func ExampleSession_SetStatus() {
	cluster := emptyCluster()
	reconcileAgain(cluster, archive{setEndpoint})
	tea, err := cluster.Port().Get(context.Background(), deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"})
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint, _, err := unstructured.NestedString(tea.Object, "status", "database", "endpoint")
	fmt.Println(endpoint, err)
	// Output: tea-db.market.svc:5432 <nil>
}
