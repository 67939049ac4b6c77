/** The part of WebAssembly that is used here: the compiler's library has it only together with the browser's types. */
declare global {
  namespace WebAssembly {
    type ImportValue = object | number;
    type ModuleImports = Record<string, ImportValue>;
    class Module {
      constructor(bytes: Uint8Array);
    }
    class Memory {
      constructor(descriptor: { initial: number; maximum: number });
      readonly buffer: ArrayBuffer;
    }
    class Table {
      grow(by: number): number;
      set(index: number, value: unknown): void;
    }
    class Instance {
      constructor(module: Module, imports: Record<string, ModuleImports>);
      readonly exports: Record<string, unknown>;
    }
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}

export {};
