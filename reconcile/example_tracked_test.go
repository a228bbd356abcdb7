package reconcile_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
)

// An object in another namespace can't name its owner there; it carries a label, and goes with the owner.
func ExampleOwnAnywhere() {
	cluster := emptyCluster()
	branch := setup(func(_ context.Context, s *reconcile.Session) error {
		account := configMap("account")
		account.SetNamespace("bank")
		s.Add("account", account)
		return nil
	})
	reconcileAgain(cluster, branch, reconcile.OwnAnywhere())
	show(cluster)
	tea := deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"}
	if err := cluster.Port().Delete(context.Background(), tea, deploy.DeleteOptions{}); err != nil {
		fmt.Println(err)
	}
	reconcileAgain(cluster, branch, reconcile.OwnAnywhere())
	fmt.Println(len(cluster.Objects()), "left")
	// Output:
	//   Shop tea: Updating Stable, Rollout Complete
	//   ConfigMap account
	// 0 left
}
