// Package explore finds faults of an operator that show only when something goes wrong: the operator is killed between
// two writes, a request fails, a resource is edited and the edit undone.
//
//	func TestExplore(t *testing.T) {
//		explore.Run(t, NewController, explore.Definitions("../../config/crd"), explore.Samples("../../config/samples"))
//	}
//
// The operator runs in the harness of package reconciletest, again and again from the beginning. First nothing disturbs
// it: a sample is created and deleted, and created, edited, edited back, edited again and deleted with each edit that
// the schema of its definition allows. Then these lives are repeated with one disturbance: those come first that were
// tried least. When the operator goes on in a way that is new after it, a second disturbance is tried at each point
// after the first one. What is left of the states goes into random walks of three to six disturbances.
//
// # Disturbances
//
//   - The operator is killed before or after a write, and starts again without its memory, perhaps only after the next
//     step. Or it loses its lease at a
//     write, which arrives when the next replica has finished; then the resource is reconciled once more.
//   - A request is refused (429), fails (500), conflicts (409), or is carried out before the connection breaks. Or a
//     write is refused because of its content (422), and the resource is reconciled once more when that is over.
//   - The next step, such as an edit or the deletion, happens before a request. Or the operator sees a step only
//     together with the next one.
//   - A watch falls behind at a write until the operator has nothing left to do. Either the resource is seen late, with
//     the next step, or all other objects are: what becomes ready, and what the cluster deletes.
//   - Somebody deletes an object of the operator before a request, or at rest, and the operator sees that at once or
//     only after the next step. Or somebody changes a field that the operator has set, before a request or at rest: an
//     operator that doesn't watch the object has an hour to set it again.
//   - What the operator does concurrently goes on in another order.
//   - Of two resources, one is reconciled in full in the middle of a reconcile of the other one.
//   - The operator is restarted, and each resource is reconciled once more.
//
// # Two resources
//
// With the option Neighbours each sample also lives beside a second resource like it: one with another name, one with
// its name in the namespace "elsewhere", and one with another name and the first edit. Each of the two is once the
// older one, and deleted first. A life ends without a finding if the cluster refuses the second resource, or its
// reconcile fails: a value may have to be unique. An object that both have may differ while both are there. These lives
// come after the samples, and get a fifth of the states.
//
// # Objects of others
//
// An object that is there at the beginning (reconciletest.Memory), other than a namespace, may be one that the operator
// reads. In one life the resource is created before that object, and deleted after it: while it is missing the operator
// may fail. In other lives one of its values changes, and changes back: an entry of a ConfigMap or Secret, or a field
// in the schema of another kind. These lives count as edits, and come first. Ignore leaves an object out.
//
// # Edits
//
// Edits are generated from the schema in the CustomResourceDefinition. Each field gets another valid value alone. Then
// follow values at the edges of what is valid, fields that are left out or null, items and entries that are added,
// removed and swapped, and two fields of an object, one after the other and at once. Values are like those of the
// sample: "10Gi" becomes "11Gi". Without disturbances they get half of the states, so with few states some edits
// aren't tried.
//
// Not edited are fields that a validation rule in CEL names, because the cluster in memory doesn't evaluate rules;
// values whose schema preserves unknown fields and names none; embedded resources; and fields at a depth of more than
// five. In the template of a Pod only fields of the sample are edited, without images. A maximum that is more than 100
// above the value of the sample isn't tried, since it may be a number of objects.
//
// # What is a finding
//
//   - The operator doesn't come to rest, it panics, or a reconcile fails in the end.
//   - A reconcile never ends though its context has: nobody sends to a channel, a mutex is locked twice. Or a goroutine
//     of the operator waits forever. The finding has the line.
//   - It writes though nothing has changed, also after a restart, or sends a write that changes nothing. Or it
//     reconciles more than twice a second though nothing happens.
//   - The cluster ends in another state than without the disturbance.
//   - An edit that is undone leaves something, an edited resource has something else than a new one, or a deleted
//     resource leaves something.
//   - It learns of a change of an object of others only at another event, or ends in another state than if the object
//     had been so before.
//   - Beside another resource the status of a resource differs, or what it alone owns. Or the deletion of another one
//     deletes or changes what it has.
//   - A resource becomes Ready while one of its workloads isn't, or before it is there, the observed generation of its
//     status or of Ready is old, a condition lacks its reason or time, or the time of its last transition moves while
//     its status stays.
//   - Names of objects depend on the time or on chance, a generated value changes after it was stored, a
//     PersistentVolumeClaim is deleted and created again, or two
//     undisturbed executions send different writes.
//   - A value of a Secret shows in a status, an annotation, a label, an event or the log.
//   - An owner is in another namespace than its object. An event is recorded again though nothing has changed.
//   - An object that exists at the beginning is deleted, a value in it that the operator hasn't set is changed, or an
//     annotation that somebody adds to an object of the operator is removed.
//   - A property of the user's own doesn't hold, see Always and Eventually.
//
// What an operator does on purpose is left out by Ignore and Leaves: no oracle judges it. So a heartbeat, such as a
// time that it writes into a status each minute, doesn't keep it from coming to rest: Ignore("Shop * status.lastSeen").
//
// After an edit that is undone, the status of the resource is compared without what may be history: times, numbers that
// have grown, also in texts, new fields, reasons and messages, elements of lists without a name, and fields such as
// lastSize or previous. Statuses of edited and new resources aren't compared.
//
// An edit with which the operator leaves a new resource alone, such as a pause, has no disturbances, and nothing is
// demanded of the new resource.
//
// Identifiers, versions, what the cluster assigns, and values that differ in each execution are left out of
// comparisons. Elements of lists are compared by their name or type, and in a status in any order. An edit with which a
// reconcile fails in the end is left out, too: the schema may allow more than makes sense.
//
// # Findings
//
// A finding is made smaller first: disturbances, steps, and fields and list items of the resource are left out while
// the same problem of the same object shows. It is told as a story of at most 15 lines: what somebody did, the
// disturbances with the writes around them, and the difference. Its last line replays it alone: pass that option beside
// the others. With the option Corpus each finding is also kept in a file, and each run replays the files first. The
// same options and seed find the same, on any number of processors: one request or read goes on after the other, in an
// order that is part of the execution, and time is simulated.
//
// # Bounds and coverage
//
// An exploration ends after a number of states (States, 5000 by default), after a time (For), or after some findings
// (Findings). With OPERKIT_EXPLORE=5m in the environment each exploration takes five minutes, whatever its options say:
// for a run at night. First come the samples as they are. Then disturbances and edits take turns: each gets half of the
// states. An edit with writes that no edit before it had is lived twice, another one once until something differs.
//
// Pairs of disturbances on a sample begin when each single one was tried on the samples. From then on they take turns
// with disturbances on edited resources of which one like it was tried. Random walks come when nothing else is left; no
// walk is followed twice. When the operator was made anew in a state that is known, the execution ends. States are
// equal though values differ that are made by chance, such as passwords.
//
// At the end the test logs a table: how many disturbances of each request were tried, of how many, and what the bound
// left out. Fields of the schema without an edit are counted by the reason: a rule in CEL, fields that the schema
// preserves, the depth, the template of a Pod, or another one. With a bound by states nothing in it depends on the
// time. Picture draws the states that were reached. While it runs, a line on a terminal shows how far it is: go test
// connects the terminal if it is called without the names of packages.
//
// # When not
//
// What isn't explored: reads that are older than those of the operator's earlier process, because a new process lists
// the present objects; children of one kind that are seen later than those of another one; two reconciles that take
// turns at each request; more than two resources; admission rules in CEL; and what an operator does outside of the
// cluster. A finding doesn't need an API server; whether an object works in a real cluster, only a real one shows.
package explore
