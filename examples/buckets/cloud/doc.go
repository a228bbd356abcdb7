// Package cloud is a small cloud in memory, with an HTTP API, for the tests of the operator and to try it.
//
//	GET    /buckets                  returns all buckets
//	PUT    /buckets/NAME             creates or changes a bucket
//	GET    /buckets/NAME             returns it
//	DELETE /buckets/NAME             deletes it, unless there are files in it
//	PUT    /buckets/NAME/quota       starts a job that sets the quota
//	GET    /jobs/ID                  returns a job, which ends when it is asked for the second time
//	PUT    /buckets/NAME/files/FILE  puts a file into the bucket
//	DELETE /buckets/NAME/files/FILE  deletes it
package cloud
