// Package program builds operators, runs them as processes, and measures their processor time and memory, as the kernel
// counts them. It needs Linux.
package program
