// Package peering lets a process of an operator take over from another one for a while, such as a developer's process
// from the operator in the cluster.
//
//	peers, err := peering.New(cluster, peering.Config{
//		Group: peering.Group{Domain: "operkit.dev", Operator: "guestbook-operator", Namespace: "guestbook"}, Priority: 100,
//	})
//	...
//	err = peers.Run(ctx, engine)
//
// Each process has a Lease with its priority, and watches the Leases of the others. It pauses while there is another
// one with a higher priority, and goes on when that one has ended: at once if it has deleted its Lease, and when the
// Lease has run out if it was killed. Processes with the same priority all pause, and say so: nobody has decided which
// of them is to work. A freeze is a Lease above every priority, with an end.
//
// The replicas of one leader election are one peer: only the leader has a Lease, and a new leader doesn't wait for the
// Lease of the one before it.
//
// # Guarantees
//
//   - A process announces itself before it looks at the others, so of two processes that start at once at least one
//     sees the other.
//   - Clocks don't matter. A Lease counts for its duration after a process has seen its last renewal, and before a
//     process believes that it has run out, it reads the Lease once more. A freeze ends by the API server's clock.
//   - A process that can't renew its Lease stops, like a leader (see package leader), because its peers may not see it
//     any more. When it can renew the Lease again, it goes on.
//   - A process that has to pause ends its work in good order: its running reconciles have the grace time of the
//     engine. Until they have ended, the other process works too. So both may work on one object for that long.
//
// A Lease costs one write for each retry period, as for leader election, and one watch.
//
// # Rights
//
// get, list, watch, create, update and delete of leases in coordination.k8s.io, in the namespace of the Leases.
//
// # When to use it
//
// Use it through package operator, by the setting peering.priority. Don't use it for replicas: elect a leader.
package peering
