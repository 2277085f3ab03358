#!/usr/bin/env node
import { processIo } from './io.js';
import { runProgram } from './program.js';

// A reader that closed the pipe (`| head`) has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runProgram(processIo(), process.argv.slice(2));
