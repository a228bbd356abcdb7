package cloud

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
)

// Bucket is a bucket of the cloud.
type Bucket struct {
	Region string `json:"region"`
	Public bool   `json:"public"`
	// Quota is the largest size in bytes, zero for any size.
	Quota int64 `json:"quota"`
	// Files is the number of files.
	Files int `json:"files"`
}

// Job sets a quota.
type Job struct {
	ID   string `json:"id"`
	Done bool   `json:"done"`
}

// Cloud is the cloud, as an http.Handler. It is safe for concurrent use.
type Cloud struct {
	mux     http.ServeMux
	mu      sync.Mutex
	buckets map[string]Bucket
	files   map[string]map[string]bool
	jobs    []*job
}

// job is a job for a bucket. looks is how often it was asked for.
type job struct {
	bucket string
	quota  int64
	looks  int
}

// New returns an empty cloud.
func New() *Cloud {
	c := &Cloud{buckets: map[string]Bucket{}, files: map[string]map[string]bool{}}
	for pattern, answer := range map[string]func(r *http.Request) (code int, content any){
		"GET /buckets":                        func(*http.Request) (int, any) { return http.StatusOK, c.buckets },
		"PUT /buckets/{name}":                 c.put,
		"GET /buckets/{name}":                 c.get,
		"DELETE /buckets/{name}":              c.delete,
		"PUT /buckets/{name}/quota":           c.setQuota,
		"GET /jobs/{id}":                      c.job,
		"PUT /buckets/{name}/files/{file}":    c.putFile,
		"DELETE /buckets/{name}/files/{file}": c.deleteFile,
	} {
		c.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c.mu.Lock()
			defer c.mu.Unlock()
			code, content := answer(r)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(content) // an error means that the client has gone
		})
	}
	return c
}

// ServeHTTP implements http.Handler.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.mux.ServeHTTP(w, r) }

// Buckets returns the buckets by their names.
func (c *Cloud) Buckets() map[string]Bucket {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.buckets)
}

func (c *Cloud) put(r *http.Request) (int, any) {
	var wanted Bucket
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if wanted.Region != "north" && wanted.Region != "south" {
		return http.StatusBadRequest, fmt.Sprintf("there is no region %q: use north or south", wanted.Region)
	}
	name := r.PathValue("name")
	bucket := c.buckets[name]
	bucket.Region, bucket.Public = wanted.Region, wanted.Public
	c.buckets[name] = bucket
	return http.StatusOK, bucket
}

func (c *Cloud) get(r *http.Request) (int, any) {
	bucket, ok := c.buckets[r.PathValue("name")]
	if !ok {
		return http.StatusNotFound, "there is no such bucket"
	}
	return http.StatusOK, bucket
}

func (c *Cloud) delete(r *http.Request) (int, any) {
	name := r.PathValue("name")
	switch bucket, ok := c.buckets[name]; {
	case !ok:
		return http.StatusNotFound, "there is no such bucket"
	case bucket.Files > 0:
		return http.StatusConflict, fmt.Sprintf("the bucket isn't empty: there are %d files in it", bucket.Files)
	}
	delete(c.buckets, name)
	return http.StatusOK, nil
}

// setQuota starts a job.
func (c *Cloud) setQuota(r *http.Request) (int, any) {
	started := &job{bucket: r.PathValue("name")}
	if _, ok := c.buckets[started.bucket]; !ok {
		return http.StatusNotFound, "there is no such bucket"
	}
	if err := json.NewDecoder(r.Body).Decode(&started.quota); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	c.jobs = append(c.jobs, started)
	return http.StatusAccepted, Job{ID: fmt.Sprint(len(c.jobs))}
}

// job looks at a job.
func (c *Cloud) job(r *http.Request) (int, any) {
	var id int
	if _, err := fmt.Sscan(r.PathValue("id"), &id); err != nil || id < 1 || id > len(c.jobs) {
		return http.StatusNotFound, "there is no such job"
	}
	found := c.jobs[id-1]
	found.looks++
	if bucket, ok := c.buckets[found.bucket]; ok && found.looks == 2 {
		bucket.Quota = found.quota
		c.buckets[found.bucket] = bucket
	}
	return http.StatusOK, Job{ID: fmt.Sprint(id), Done: found.looks >= 2}
}

func (c *Cloud) putFile(r *http.Request) (int, any) {
	return c.change(r, func(files map[string]bool, file string) { files[file] = true })
}

func (c *Cloud) deleteFile(r *http.Request) (int, any) {
	return c.change(r, func(files map[string]bool, file string) { delete(files, file) })
}

// change changes the files of a bucket.
func (c *Cloud) change(r *http.Request, change func(files map[string]bool, file string)) (int, any) {
	name := r.PathValue("name")
	bucket, ok := c.buckets[name]
	if !ok {
		return http.StatusNotFound, "there is no such bucket"
	}
	if c.files[name] == nil {
		c.files[name] = map[string]bool{}
	}
	change(c.files[name], r.PathValue("file"))
	bucket.Files = len(c.files[name])
	c.buckets[name] = bucket
	return http.StatusOK, bucket
}
