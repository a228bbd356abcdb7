// Package jobs runs a Job once for each value of something, such as a migration for each version.
//
//	migrate := s.Use("migrate", jobs.Once(s.Version(), job)).After(store, reconcile.Ready)
//	web.After(migrate, reconcile.Ready)
//
// # Once
//
// The Job is named <resource>-<component>-<hash>, with a hash of the kind and name of the resource, the component and
// the value. It is only ever created: a template that changes while the value stays, for example because the operator
// was upgraded, neither runs it again nor fails. A new value creates another Job. Until then the Job stays after it has
// finished, because its existence is the record that it has run. So ttlSecondsAfterFinished is refused: the cluster
// would delete the Job, and it would run again.
//
//	kubectl get jobs -L operkit.dev/once,operkit.dev/once-value
//
// shows the component and the value of each Job, with the domain of your operator.
//
// # One at a time
//
// While the Job of another value runs, none is created; the component waits, and its message names the Job that it
// waits for. This is so too if that Job can't start, for example because its image doesn't exist: set
// activeDeadlineSeconds, let the author of the resource delete the Job, or use [Replace]. Delete a Job that runs by
//
//	kubectl delete job JOB --cascade=foreground
//
// since otherwise its Pods may still be ending when the next Job starts.
//
// # To run it again
//
// Delete the Job, whether it has failed or not, and it is created again. A new value creates a new Job. A value that
// had a Job before, but whose Job was deleted because the Job of another value was created, runs again: a migration
// that was undone has to be done again, and one that wasn't has to find nothing to do. A Job that was left by a deleted
// resource of the same name doesn't count: it is deleted, and the value runs. So it is after a restore from a backup. A
// component with another name runs the value, too. A component that is disabled, or that Setup doesn't add any more,
// loses its Job, even if it runs.
//
// # When it fails
//
// A Job that has failed fails its component. The message names the Pod, the container, its exit code and the reason,
// and has the last lines that the container wrote, from its termination message. For that, containers without a
// terminationMessagePolicy get FallbackToLogsOnError, so that the operator needs no right to logs: it lists Pods, only
// while a Job has failed or doesn't start. With the restartPolicy OnFailure, the cluster deletes the Pod when the Job
// has failed, and the last message is lost.
//
// The message of the component is in the status, in events and in the log of the operator. If the program may print
// what not everybody may read, use [WithoutOutput].
//
// # Rights
//
// Besides the rights for Jobs that every component with a Job needs, this package lists Pods. Without that right all
// works, except that messages don't say what Pods have.
//
// # When to use it
//
// Use it for work that has to be done once before or after something. For work by a schedule use a CronJob.
package jobs
