// Package kit has nothing but this page: its packages are what nearly every operator needs beside its own objects.
//
// Each is one noun, and useful alone. None of them links a client library of what it works with.
package kit
